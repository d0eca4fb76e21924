/*
 * input.c — opens a file of numbers: its format, and text.
 */
#include "input.h"
#include "common/harness/host/host.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Is an integer that int64 cannot hold equal, in every digit, to the double nearest to it? */
static bool same_digits(const char *text, double value)
{
    char digits[TOKEN_MAX];
    snprintf(digits, sizeof digits, "%.0f", fabs(value));
    if (*text == '+' || *text == '-') text++;
    while (*text == '0') text++;
    return strcmp(text, digits) == 0;
}

/*
 * A number with a point or an exponent counts as exact in two cases. Either it is the value of a
 * float, as far as a double can show. Or it is the decimal that --output writes for a float: its
 * nine digits name this float and no other.
 */
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
        enum conversion conversion =
            isinf(value) ? CONVERT_OUT_OF_RANGE : element_store_real(element, data, index, value);
        return conversion == CONVERT_EXACT && !same_digits(text, value) ? CONVERT_ROUNDED
                                                                        : conversion;
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

#define NPY_FIRST_BYTE 0x93 /* of "\x93NUMPY"; no text begins so */

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
