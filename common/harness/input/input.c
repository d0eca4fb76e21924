/* input.c — opens a file of numbers: its format, and text. */
#define _GNU_SOURCE /* _SC_AVPHYS_PAGES */
#include "common/harness/print/print.h"
#include "input.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the host's memory ----------------------------------------------------------------------- */

size_t host_memory(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[80];
    size_t kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %zu kB", &kib) == 1) break;
    if (file) fclose(file);
    if (kib) return kib * 1024;
    return (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- numbers as text, separated by white space or commas ------------------------------------- */

#define TOKEN_MAX  400 /* characters of one number: more than any float64 written in full */
#define SHOWN_MAX  40  /* characters of a token in messages */
#define FIRST_ROOM 1024
#define DIGITS_F32 9 /* significant digits that name one float and no other */

struct token {
    char text[TOKEN_MAX + 1];
    size_t length;
    size_t line;       /* where it begins; from 1 */
    size_t lines_read; /* so far */
    bool comma;        /* there was one behind it */
    bool unreadable;   /* a byte that text does not have */
    bool too_long;     /* more than TOKEN_MAX characters */
};

/* Reads a character, and counts lines. */
static int next_character(FILE *file, struct token *token)
{
    int c = getc(file);
    token->lines_read += c == '\n';
    return c;
}

/* Reads the next token and the comma after it, if there is one. The token is empty between two
 * commas and at the end of the file. A token ends early if it is too long or not text, because a
 * file such as /dev/zero has no end. */
static void next_token(FILE *file, struct token *token)
{
    int c = next_character(file, token);
    while (c != EOF && isspace(c)) c = next_character(file, token);
    token->length = 0;
    token->comma = token->unreadable = token->too_long = false;
    token->line = token->lines_read + 1;
    for (; c != EOF && !isspace(c) && c != ','; c = next_character(file, token)) {
        token->unreadable = iscntrl(c);
        token->too_long = token->length == TOKEN_MAX;
        if (token->unreadable || token->too_long) return;
        token->text[token->length++] = (char)c;
    }
    token->text[token->length] = '\0';
    while (c != EOF && isspace(c)) c = next_character(file, token);
    token->comma = c == ',';
    if (c != EOF && c != ',') ungetc(c, file); /* begins the next token */
}

static bool is_integer(const char *text)
{
    if (*text == '+' || *text == '-') text++;
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* A number with a point or an exponent counts as exact in two cases. Either it is the value of a
 * float, as far as a double can show. Or it is the decimal that --output writes for a float: its
 * nine digits name this float and no other. */
static enum conversion store_decimal(enum element element, void *data, size_t index,
                                     const char *text, double value)
{
    if (element == ELEMENT_F64) return element_store_real(element, data, index, value);
    enum conversion conversion = element_store_real(element, data, index, value);
    if (conversion != CONVERT_ROUNDED || element != ELEMENT_F32) return conversion;
    char name[48];
    snprintf(name, sizeof name, "%.*g", DIGITS_F32, (double)((float *)data)[index]);
    return strcmp(name, text + (*text == '+')) == 0 ? CONVERT_EXACT : conversion;
}

static enum conversion store(enum element element, void *data, size_t index, const char *text,
                             bool *is_number)
{
    char *end;
    errno = 0;
    *is_number = true;
    if (is_integer(text)) {
        long long integer = strtoll(text, &end, 10);
        if (errno != ERANGE && integer == 0 && *text == '-' && element_is_real(element))
            return element_store_real(element, data, index, -0.0);
        if (errno != ERANGE) return element_store_integer(element, data, index, integer);
        errno = 0;
        unsigned long long large = strtoull(text, NULL, 10);
        if (errno != ERANGE && *text != '-')
            return element_store_unsigned(element, data, index, large);
        double value = strtod(text, NULL);
        return isinf(value) ? CONVERT_OUT_OF_RANGE
                            : element_store_real(element, data, index, value);
    }
    double value = strtod(text, &end);
    *is_number = end != text && !*end;
    if (!*is_number) return CONVERT_EXACT;
    if (errno == ERANGE && isinf(value)) return CONVERT_OUT_OF_RANGE; /* written as a number */
    if (errno == ERANGE && value == 0) {
        element_store_real(element, data, index, 0);
        return CONVERT_ROUNDED;
    }
    return store_decimal(element, data, index, text, value);
}

static int refuse_token(const struct reader *reader, const struct token *token, size_t index,
                        struct fault *fault)
{
    if (token->unreadable)
        return fail(fault, EXIT_USAGE,
                    "%s is neither a .npy file nor text: see number %zu in line %zu.", reader->name,
                    index + 1, token->line);
    if (token->too_long)
        return fail(fault, EXIT_USAGE,
                    "%s: number %zu in line %zu has more than %d characters; write it with fewer "
                    "digits, and white space or commas between numbers.",
                    reader->name, index + 1, token->line, TOKEN_MAX);
    return fail(fault, EXIT_USAGE, "%s: number %zu in line %zu, \"%.*s\", is not a number.",
                reader->name, index + 1, token->line, SHOWN_MAX, token->text);
}

/* Editors on Windows begin UTF-8 with a mark of three bytes, the first of which begins
 * no number. */
static bool skip_byte_order_mark(FILE *file)
{
    int first = getc(file);
    if (first == 0xEF) return getc(file) == 0xBB && getc(file) == 0xBF;
    ungetc(first, file);
    return true;
}

/* Numbers separated by white space or commas, to the end of the file. */
static int input_read_text(struct reader *reader, struct input *input, struct fault *fault)
{
    struct token token = {.lines_read = 0};
    size_t room = 0;
    if (!skip_byte_order_mark(reader->file))
        return refuse_token(reader, &(struct token){.line = 1, .unreadable = true}, 0, fault);
    for (;;) {
        next_token(reader->file, &token);
        if (token.unreadable || token.too_long)
            return refuse_token(reader, &token, input->n, fault);
        if (token.length == 0 && !token.comma) break; /* the end, perhaps after a last comma */
        if (token.length == 0)
            return fail(fault, EXIT_USAGE, "%s: number %zu in line %zu is missing: \",\" %s.",
                        reader->name, input->n + 1, token.line,
                        input->n ? "follows \",\"" : "comes first");
        if (input->n == room) {
            room = room ? room + room / 2 : FIRST_ROOM;
            int code = input_reserve(reader, input, room, fault);
            if (code) return code;
        }
        bool is_number;
        enum conversion conversion =
            store(reader->element, input->data, input->n, token.text, &is_number);
        if (!is_number) return refuse_token(reader, &token, input->n, fault);
        if (!input_takes(reader, conversion)) {
            char shown[SHOWN_MAX + 1];
            snprintf(shown, sizeof shown, "%.*s", SHOWN_MAX, token.text);
            return input_refuse(reader, conversion, input->n, shown, fault);
        }
        input->n++;
        if (reader->max_n && input->n > reader->max_n) return 0; /* options_check_n says it */
    }
    if (ferror(reader->file))
        return fail(fault, EXIT_USAGE, "cannot read %s: %s.", reader->name, strerror(errno));
    if (input->n == 0)
        return fail(fault, EXIT_USAGE, "%s has no numbers; there is nothing to scan.",
                    reader->name);
    return 0;
}

/* ---- opens a file of numbers and recognizes its format --------------------------------------- */

int input_read(struct input *input, enum element element, const char *path, size_t max_n,
               struct fault *fault)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct reader reader = {.file = is_stdin ? stdin : fopen(path, "rb"),
                            .name = is_stdin ? "stdin" : path,
                            .element = element,
                            .max_n = max_n};
    *input = (struct input){.element = element};
    if (!reader.file) return fail(fault, EXIT_USAGE, "cannot open %s: %s.", path, strerror(errno));

    int first = getc(reader.file);
    if (first != EOF) ungetc(first, reader.file);
    int code;
    if (first == EOF && ferror(reader.file))
        code = fail(fault, EXIT_USAGE, "cannot read %s: %s.", reader.name, strerror(errno));
    else if (first == EOF)
        code = fail(fault, EXIT_USAGE, "%s is empty; there is nothing to scan.", reader.name);
    else if (first == NPY_FIRST_BYTE)
        code = input_read_npy(&reader, input, fault);
    else
        code = input_read_text(&reader, input, fault);
    if (!is_stdin) fclose(reader.file);
    input->rounded = reader.has_rounded;
    if (code) input_free(input);
    return code;
}

/* Reads up to the end of the file, or until there are more than `most` bytes. */
static int read_bytes(struct input *input, FILE *file, size_t most, const char *name,
                      struct fault *fault)
{
    size_t room = 0, got;
    do {
        if (input->n + 1 >= room) {
            room = 2 * room + FIRST_ROOM;
            void *larger = room <= host_memory() ? realloc(input->data, room) : NULL;
            if (!larger) return fail(fault, EXIT_USAGE, "%s does not fit into memory.", name);
            input->data = larger;
        }
        got = fread((char *)input->data + input->n, 1, room - 1 - input->n, file);
        input->n += got;
    } while (got > 0 && input->n <= most);
    if (ferror(file)) return fail(fault, EXIT_USAGE, "cannot read %s: %s.", name, strerror(errno));
    return 0;
}

int input_read_bytes(struct input *input, const char *path, size_t most, const char *option,
                     const char *of_empty, struct fault *fault)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "stdin" : path;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    *input = (struct input){.element = ELEMENT_I8};
    if (!file) return fail(fault, EXIT_USAGE, "cannot open %s: %s.", path, strerror(errno));
    int code = read_bytes(input, file, most, name, fault);
    if (!is_stdin) fclose(file);
    if (!code && input->n == 0) code = fail(fault, EXIT_USAGE, "%s is empty; %s.", name, of_empty);
    if (!code && input->n > most)
        code = fail(fault, EXIT_USAGE, "%s has more than %zu bytes; %s takes no more.", name, most,
                    option);
    if (code) input_free(input);
    return code;
}

int input_read_lines(struct input *input, const char *path, size_t most, const char *option,
                     const char *of_empty, struct fault *fault)
{
    int code = input_read_bytes(input, path, most, option, of_empty, fault);
    char *text = input->data;
    if (!code && text[input->n - 1] != '\n') text[input->n++] = '\n';
    return code;
}

int input_reserve(struct reader *reader, struct input *input, size_t n, struct fault *fault)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, element_size(reader->element), &bytes) ||
        bytes > host_memory())
        return fail(fault, EXIT_USAGE, "%s has %zu or more numbers, which do not fit into memory.",
                    reader->name, n);
    void *data = realloc(input->data, bytes ? bytes : 1);
    if (!data)
        return fail(fault, EXIT_USAGE, "%zu numbers of %s do not fit into memory.", n,
                    reader->name);
    input->data = data;
    return 0;
}

bool input_takes(struct reader *reader, enum conversion conversion)
{
    reader->has_rounded |= conversion == CONVERT_ROUNDED;
    if (conversion == CONVERT_ROUNDED) return element_is_real(reader->element);
    return conversion == CONVERT_EXACT;
}

int input_refuse(const struct reader *reader, enum conversion conversion, size_t index,
                 const char *shown, struct fault *fault)
{
    const char *type = element_name(reader->element);
    if (conversion == CONVERT_NAN)
        return fail(fault, EXIT_USAGE,
                    "%s: number %zu is %s, which type %s does not have; remove it, or take a real "
                    "type where the step has one.",
                    reader->name, index + 1, shown, type);
    if (conversion == CONVERT_OUT_OF_RANGE)
        return fail(fault, EXIT_USAGE, "%s: number %zu, %s, is beyond the range of %s.",
                    reader->name, index + 1, shown, type);
    return fail(fault, EXIT_USAGE,
                "%s: number %zu, %s, cannot be held exactly in type %s.", reader->name, index + 1,
                shown, type);
}

void input_free(struct input *input)
{
    free(input->data);
    *input = (struct input){.element = input->element};
}

/* ---- random numbers -------------------------------------------------------------------------- */

/* Random numbers whose sums can be checked exactly. */

/* Integers: every contiguous sum stays below 2^24, so a float holds each one exactly and additions
 * may come in any order. The prefix sums are a random walk kept within ±WALK_BOUND: a step that
 * would leave the band is taken in the other direction. A contiguous sum is the difference of two
 * prefix sums, so it is at most 2 * WALK_BOUND = 2^23 in magnitude. */
#define WALK_BOUND (1 << 22)

/* Steps are ±1 … ±AMPLITUDE, never 0: a number that is left out or added twice always shows. */
#define AMPLITUDE       500
#define AMPLITUDE_SMALL 100 /* fits into 8 bits */

/* Real numbers: of either sign, 1/2 <= |x| < 1, so that each weighs as much as any other. They are
 * multiples of a quantum q, which makes sums up to 2^24 q exact in float. q is 2^-24, so that every
 * addition may round, or larger for more elements. The verifier's bound grows with the number of
 * sums that round, and the larger quantum keeps the bound below the size of one element. The sums
 * of all before an element are larger than 2^24 q at any size, and round. (Those of doubles do so
 * from 2^53 q on.) */
#define BITS_F32      24
#define BITS_F64      49
#define BITS_LEAST    8
#define F32_BITS_LOST 18 /* of more than 2^18 elements: a bit for each doubling */

/* The real numbers of the experiments that measure rounding: multiples of 2^-23 in [-1, 1), which
 * floats hold exactly. */
#define UNIFORM_BITS 24

/* Element i of the random sequence of a seed: SplitMix64 (Steele, Lea, Flood 2014). It is computed
 * without the elements before it, and by integer arithmetic alone. */
static uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0xD1342543DE82EF95u + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The numbers that are made: those of a part of the sequence, from part.first on. */
struct numbers {
    struct input *input;
    struct input_part part;
    uint64_t seed;
};

/* Makes numbers begin … end-1 of the part. */
typedef void make_fn(const struct numbers *, size_t begin, size_t end);

#define CHUNK ((size_t)1 << 14) /* numbers between two reports of progress */

/* ---- integers -------------------------------------------------------------------------------- */

static uint64_t amplitude_of(const struct numbers *n)
{
    return n->input->element == ELEMENT_I8 ? AMPLITUDE_SMALL : AMPLITUDE;
}

/* Step i of the walk, unless it would leave the band. */
static int64_t free_step(uint64_t seed, uint64_t i, uint64_t amplitude)
{
    uint64_t bits = random_bits(seed, i);
    int64_t step = 1 + (int64_t)(((bits >> 32) * amplitude) >> 32);
    return bits & 1 ? -step : step;
}

/* A step depends on those before it, through their sum, also on those before the part. */
static void make_integers(const struct numbers *n)
{
    uint64_t amplitude = amplitude_of(n);
    size_t first = n->part.first, end = first + n->part.count;
    int64_t sum = 0;
    for (size_t i = 0; i < end; i++) {
        int64_t step = free_step(n->seed, i, amplitude);
        if (sum + step > WALK_BOUND || sum + step < -WALK_BOUND) step = -step;
        sum += step;
        if (i >= first)
            element_store_integer(n->input->element, n->input->data, i - first, step);
        if (i >= first && i % CHUNK == 0) progress_at(i - first);
    }
}

/* ---- numbers that do not depend on each other ------------------------------------------------ */

/* How many digits after the point real numbers have. */
static int real_bits(enum element element, size_t n)
{
    int bits = BITS_F32;
    if (element == ELEMENT_F64) return BITS_F64;
    for (size_t most = (size_t)1 << F32_BITS_LOST; most < n && bits > BITS_LEAST; most *= 2) bits--;
    return bits;
}

static void make_reals(const struct numbers *n, size_t begin, size_t end)
{
    int bits = real_bits(n->input->element, n->part.whole);
    for (size_t i = begin; i < end; i++) {
        uint64_t random = random_bits(n->seed, n->part.first + i);
        uint64_t digits = (random >> (64 - bits)) | (uint64_t)1 << (bits - 1);
        double x = ldexp((double)digits, -bits);
        element_store_real(n->input->element, n->input->data, i, random & 1 ? -x : x);
    }
}

static void make_uniform(const struct numbers *n, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        uint64_t random = random_bits(n->seed, n->part.first + i);
        int64_t integer = (int64_t)(random >> (64 - UNIFORM_BITS));
        integer -= (int64_t)1 << (UNIFORM_BITS - 1);
        element_store_real(n->input->element, n->input->data, i, (double)integer * 0x1p-23);
    }
}

static void make_bits(const struct numbers *n, size_t begin, size_t end)
{
    size_t size = element_size(n->input->element);
    for (size_t i = begin; i < end; i++) {
        uint64_t random = random_bits(n->seed, n->part.first + i);
        memcpy((char *)n->input->data + i * size, &random, size);
    }
}

static void make_all(const struct numbers *n, make_fn *make)
{
    for (size_t at = 0, end, count = n->part.count; at < count; at = end) {
        end = count - at < CHUNK ? count : at + CHUNK;
        make(n, at, end);
        progress_at(end);
    }
}

/* ---- all kinds ------------------------------------------------------------------------------- */

int input_generate_part(struct input *input, enum element element, struct input_part part,
                        enum random kind, uint64_t seed, struct fault *fault)
{
    static make_fn *const makers[] = {
        [RANDOM_REALS] = make_reals, [RANDOM_BITS] = make_bits, [RANDOM_UNIFORM] = make_uniform};
    size_t n = part.count;
    struct numbers numbers = {input, part, seed};
    *input = (struct input){.element = element, .n = n};
    input->data = calloc(n ? n : 1, element_size(element));
    if (!input->data)
        return fail(fault, EXIT_USAGE, "%zu %s do not fit into host memory.", n,
                    element_plural(element));
    progress_begin("random numbers", n);
    if (kind == RANDOM_INTEGERS || (kind == RANDOM_REALS && !element_is_real(element)))
        make_integers(&numbers);
    else
        make_all(&numbers, makers[kind]);
    progress_end();
    return 0;
}

int input_generate(struct input *input, enum element element, size_t n, enum random kind,
                   uint64_t seed, struct fault *fault)
{
    return input_generate_part(input, element, (struct input_part){0, n, n}, kind, seed, fault);
}
