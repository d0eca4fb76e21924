/*
 * input_npy_header.c — reads {'descr': '<f4', 'fortran_order': False, 'shape': (5,), }.
 *
 * The header is an expression of Python. NumPy reads it with ast.literal_eval(), so that strings
 * have either quote and escapes, and values may be nested. This parser reads dictionaries, lists,
 * tuples, strings, numbers and names. Of a nested value it only finds the end.
 */
#include "input_npy.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STRING_MAX   64 /* bytes kept of a string: more than any key or type that is known has */
#define DEPTH_MAX    32 /* of nested values */
#define SHAPE_SHOWN  60 /* bytes of the shape in a sentence */
#define STRING_SHOWN 30 /* and of a string */

enum value_kind { STRING, NUMBER, NAME, TUPLE, LIST, DICTIONARY };

struct value {
    enum value_kind kind;
    const char *begin, *end;     /* its text */
    char string[STRING_MAX + 1]; /* of a STRING; cut if `cut` */
    bool cut;
};

/* The parser: the text, the place in it, and how deep values are nested there. */
struct parser {
    const char *text, *at;
    int depth;
};

static bool parse_value(struct parser *, struct value *);

int npy_malformed(const char *name, const char *what, struct fault *fault)
{
    return fail(fault, EXIT_USAGE, "%s is no usable .npy file: %s.", name, what);
}

/* ---- Python ---------------------------------------------------------------------------------- */

static const char space[] = " \t\r\n\f";

static void skip_space(struct parser *p) { p->at += strspn(p->at, space); }

/* Takes a character, after space, if it comes next. */
static bool take(struct parser *p, char wanted)
{
    skip_space(p);
    if (*p->at != wanted) return false;
    p->at++;
    return true;
}

static void append(struct value *value, char c)
{
    size_t length = strlen(value->string);
    value->cut = value->cut || length == STRING_MAX;
    if (!value->cut) value->string[length] = c;
}

/* A character written as a number: \x41, \u0041, \101. No known key or type has characters beyond
 * ASCII, or zero, so these stay as they are written. False: too few digits. */
static bool parse_code(struct parser *p, struct value *value, int base, size_t least, size_t most)
{
    const char *escape = p->at;
    unsigned long code = 0;
    size_t count = 0;
    p->at += base == 16 ? 2 : 1;
    for (; count < most && isxdigit((unsigned char)*p->at); count++, p->at++) {
        int digit = isdigit((unsigned char)*p->at) ? *p->at - '0' : (*p->at | 0x20) - 'a' + 10;
        if (digit >= base) break;
        code = code * (unsigned long)base + (unsigned long)digit;
    }
    if (count < least) return false;
    if (code > 0 && code < 0x80)
        append(value, (char)code);
    else
        while (escape < p->at) append(value, *escape++);
    return true;
}

/* Takes what follows a backslash. */
static bool parse_escape(struct parser *p, struct value *value)
{
    static const char letters[] = "abfnrtv\\'\"", meanings[] = "\a\b\f\n\r\t\v\\'\"";
    const char *letter = *p->at ? strchr(letters, *p->at) : NULL;
    if (*p->at == '\0') return false;
    if (*p->at >= '0' && *p->at <= '7') {
        p->at--;
        return parse_code(p, value, 8, 1, 3);
    }
    if (*p->at == 'x' || *p->at == 'u' || *p->at == 'U') {
        size_t digits = *p->at == 'x' ? 2 : *p->at == 'u' ? 4 : 8;
        p->at--;
        return parse_code(p, value, 16, digits, digits);
    }
    if (*p->at == '\n') { /* the string goes on in the next line */
        p->at++;
        return true;
    }
    if (letter == NULL) append(value, '\\'); /* it stays, as in Python */
    append(value, letter ? meanings[letter - letters] : *p->at);
    p->at++;
    return true;
}

static bool parse_string(struct parser *p, struct value *value)
{
    char quote = *p->at++;
    value->kind = STRING;
    while (*p->at != quote) {
        if (*p->at == '\0' || *p->at == '\n') return false;
        if (*p->at != '\\') {
            append(value, *p->at++);
            continue;
        }
        p->at++;
        if (!parse_escape(p, value)) return false;
    }
    p->at++;
    return true;
}

/* Takes the values between brackets. There are commas between them, and there may be one after the
 * last. */
static bool parse_items(struct parser *p, struct value *value, enum value_kind kind, char close)
{
    struct value item;
    value->kind = kind;
    p->at++;
    while (!take(p, close)) {
        if (!parse_value(p, &item)) return false;
        if (kind == DICTIONARY && (!take(p, ':') || !parse_value(p, &item))) return false;
        if (take(p, ',')) continue;
        return take(p, close);
    }
    return true;
}

/* True, False, None; a number; Python 2 ended long ones with L. */
static bool parse_word(struct parser *p, struct value *value)
{
    const char *begin = p->at;
    if (*p->at == '+' || *p->at == '-') p->at++;
    bool number = isdigit((unsigned char)*p->at);
    while (isalnum((unsigned char)*p->at) || *p->at == '.' || *p->at == '_') p->at++;
    value->kind = number ? NUMBER : NAME;
    return number || (p->at > begin && isalpha((unsigned char)*begin));
}

static bool parse_bracketed(struct parser *p, struct value *value)
{
    if (p->depth == DEPTH_MAX) return false;
    p->depth++;
    bool fine = *p->at == '{'   ? parse_items(p, value, DICTIONARY, '}')
                : *p->at == '[' ? parse_items(p, value, LIST, ']')
                                : parse_items(p, value, TUPLE, ')');
    p->depth--;
    return fine;
}

/* False: it is wrong at p->at. */
static bool parse_value(struct parser *p, struct value *value)
{
    skip_space(p);
    *value = (struct value){.begin = p->at};
    bool unicode = (*p->at == 'u' || *p->at == 'U') && p->at[1] != '\0' && strchr("'\"", p->at[1]);
    if (unicode) p->at++; /* as Python 2 wrote some strings */
    if (*p->at == '\0') return false;
    bool fine = strchr("'\"", *p->at)   ? parse_string(p, value)
                : strchr("{[(", *p->at) ? parse_bracketed(p, value)
                                        : parse_word(p, value);
    value->end = p->at;
    return fine;
}

/* ---- what the values mean -------------------------------------------------------------------- */

static bool is_word(const struct value *value, const char *word)
{
    size_t length = (size_t)(value->end - value->begin);
    return value->kind == NAME && strlen(word) == length &&
           strncmp(value->begin, word, length) == 0;
}

static int read_descr(struct npy_header *header, const struct value *value, const char *name,
                      struct fault *fault)
{
    static const struct {
        const char *code;
        enum npy_kind kind;
        bool in_scans, in_pictures;
    } kinds[] = {{"f4", NPY_F4, true, true},  {"f8", NPY_F8, true, false},
                 {"i4", NPY_I4, true, false}, {"i8", NPY_I8, true, false},
                 {"u4", NPY_U4, true, false}, {"u8", NPY_U8, true, false},
                 {"u1", NPY_U1, false, true}, {"u2", NPY_U2, false, true}};
    bool is_picture = header->most > 1;
    if (value->kind == LIST || value->kind == TUPLE)
        return npy_malformed(name, "its elements are structures", fault);
    if (value->kind != STRING) return npy_malformed(name, "its 'descr' is no string", fault);
    const char *type = value->string;
    const uint16_t one = 1;
    bool little_host = *(const unsigned char *)&one == 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!(is_picture ? kinds[i].in_pictures : kinds[i].in_scans)) continue;
        if (!*type || !strchr("<>=|", *type) || strcmp(type + 1, kinds[i].code) != 0) continue;
        header->kind = kinds[i].kind;
        header->lowest_first = strchr("=|", *type) ? little_host : *type == '<';
        header->swap = header->lowest_first != little_host;
        return 0;
    }
    return fail(fault, EXIT_USAGE, "%s has elements of type '%.*s'; %s.", name, STRING_SHOWN, type,
                is_picture ? "a picture has uint8 or uint16, or float32 where it is neither "
                             "filtered nor a depth map"
                           : "it takes float32, float64, int32, int64, uint32 or uint64");
}

static int read_order(struct npy_header *header, const struct value *value, const char *name,
                      struct fault *fault)
{
    header->by_columns = is_word(value, "True");
    if (is_word(value, "True") || is_word(value, "False")) return 0;
    return npy_malformed(name, "its 'fortran_order' is neither True nor False", fault);
}

static const char other_shape[] = "only one dimension can be scanned (in NumPy: a.ravel())";
static const char too_many[] = "64 bits cannot count the elements; save the array again";

/* A whole number of a tuple. NULL, or what is wrong with it. */
static const char *parse_size(const char **at, size_t *size)
{
    char *end;
    *at += strspn(*at, space);
    bool negative = **at == '-';
    *at += negative;
    bool octal = (*at)[0] == '0' && isdigit((unsigned char)(*at)[1]); /* in Python 2 */
    errno = 0;
    *size = strtoull(*at, &end, 10);
    if (!isdigit((unsigned char)**at) || octal) return other_shape;
    end += *end == 'L'; /* Python 2 */
    *at = end + strspn(end, space);
    if (negative) return "no dimension is negative; save the array again";
    return errno ? too_many : NULL;
}

/* The text (5,) or (2, 3): a tuple of one whole number or more. NULL, or what is wrong with it. */
static const char *parse_shape(const struct value *value, struct npy_header *header)
{
    const char *at = value->begin + 1, *last = value->end - 1, *wrong = NULL;
    if (value->kind != TUPLE || at == last) return other_shape;
    header->n = 1;
    for (header->dimensions = 0; at < last; at += strspn(at, space)) {
        size_t size;
        const char *found = parse_size(&at, &size);
        if (found == other_shape || header->dimensions == header->most) return other_shape;
        if (found) wrong = found;
        if (__builtin_mul_overflow(header->n, size, &header->n)) wrong = too_many;
        header->shape[header->dimensions++] = size;
        if (*at == ',')
            at++;
        else if (at < last || header->dimensions == 1)
            return other_shape; /* (5) is a number in brackets */
    }
    return wrong;
}

static int read_shape(struct npy_header *header, const struct value *value, const char *name,
                      struct fault *fault)
{
    int length = (int)(value->end - value->begin);
    const char *wrong = parse_shape(value, header);
    if (!wrong) return 0;
    if (wrong == other_shape && header->most > 1) wrong = "such an array is no picture";
    return fail(fault, EXIT_USAGE, "%s has the shape %.*s; %s.", name,
                length < SHAPE_SHOWN ? length : SHAPE_SHOWN, value->begin, wrong);
}

static const struct {
    const char *name, *missing, *twice;
    int (*read)(struct npy_header *, const struct value *, const char *name, struct fault *);
} keys[] = {
    {"descr", "its header has no 'descr'", "its header has two of 'descr'", read_descr},
    {"shape", "its header has no 'shape'", "its header has two of 'shape'", read_shape},
    {"fortran_order", "its header has no 'fortran_order'", "its header has two of 'fortran_order'",
     read_order},
};
#define KEYS (sizeof keys / sizeof *keys)

/* ---- the dictionary -------------------------------------------------------------------------- */

static int refuse_text(const struct parser *p, const char *name, struct fault *fault)
{
    return fail(fault, EXIT_USAGE,
                "%s is no usable .npy file: its header is no dictionary of Python, from byte %zu "
                "on: \"%.*s\".",
                name, (size_t)(p->at - p->text), STRING_SHOWN, p->at);
}

/* The number of the key. If the key is unknown: KEYS, and a sentence. */
static size_t find_key(const struct value *key, const char *name, struct fault *fault)
{
    size_t i = 0;
    while (i < KEYS && (key->cut || strcmp(keys[i].name, key->string) != 0)) i++;
    if (key->kind != STRING)
        npy_malformed(name, "a key in its header is no string", fault);
    else if (i == KEYS)
        fail(fault, EXIT_USAGE, "%s is no usable .npy file: its header has a key '%.*s'.", name,
             STRING_SHOWN, key->string);
    return key->kind == STRING ? i : KEYS;
}

/* One key and its value. */
static int read_pair(struct parser *p, struct value values[KEYS], const char *name,
                     struct fault *fault)
{
    struct value key, value;
    if (!parse_value(p, &key) || !take(p, ':') || !parse_value(p, &value))
        return refuse_text(p, name, fault);
    size_t i = find_key(&key, name, fault);
    if (i == KEYS) return EXIT_USAGE;
    if (values[i].begin != NULL) return npy_malformed(name, keys[i].twice, fault);
    values[i] = value;
    return 0;
}

static int read_dictionary(struct parser *p, struct value values[KEYS], const char *name,
                           struct fault *fault)
{
    if (!take(p, '{')) return refuse_text(p, name, fault);
    for (bool closed = take(p, '}'); !closed;) {
        int code = read_pair(p, values, name, fault);
        if (code) return code;
        bool comma = take(p, ',');
        closed = take(p, '}');
        if (!comma && !closed) return refuse_text(p, name, fault);
    }
    skip_space(p);
    return *p->at ? refuse_text(p, name, fault) : 0;
}

int npy_header_parse(struct npy_header *header, const char *text, const char *name,
                     struct fault *fault)
{
    struct parser parser = {.text = text, .at = text};
    struct value values[KEYS] = {{.begin = NULL}};
    int code = read_dictionary(&parser, values, name, fault);
    for (size_t i = 0; i < KEYS && !code; i++)
        code = values[i].begin ? keys[i].read(header, &values[i], name, fault)
                               : npy_malformed(name, keys[i].missing, fault);
    return code;
}
