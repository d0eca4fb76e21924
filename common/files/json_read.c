/* json_read.c — reading JSON where it stands: a value is a pointer into the text. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "json.h"
#include "allocated.h"
#include <string.h>

enum { MOST_DEPTH = 64, DIGITS = 4 /* after \\u */ };

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

/* The text after a string; NULL: it does not end, or has a wrong escape. */
static const char *string_end(const char *at)
{
    for (at++; *at != '"'; at++) {
        if ((unsigned char)*at < ' ') return NULL;
        if (*at != '\\') continue;
        if (*++at == '\0' || !strchr("\"\\/bfnrtu", *at)) return NULL;
        if (*at == 'u' && strspn(at + 1, "0123456789abcdefABCDEF") < DIGITS) return NULL;
    }
    return at + 1;
}

static const char *end_of(const char *at, unsigned depth)
{
    static const char *const words[] = {"true", "false", "null"};
    at = skip_blanks(at);
    if (*at == '"') return string_end(at);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(at, words[i], strlen(words[i]))) return at + strlen(words[i]);
    if (*at != '{' && *at != '[') {
        size_t length = strspn(at, "+-.0123456789eE");
        return length ? at + length : NULL;
    }
    const char close = *at == '{' ? '}' : ']';
    if (depth == MOST_DEPTH) return NULL;
    at = skip_blanks(at + 1);
    if (*at == close) return at + 1;
    for (;; at++) {
        if (close == '}') {
            at = skip_blanks(at);
            if (*at != '"' || !(at = string_end(at))) return NULL;
            at = skip_blanks(at);
            if (*at++ != ':') return NULL;
        }
        if (!(at = end_of(at, depth + 1))) return NULL;
        at = skip_blanks(at);
        if (*at == close) return at + 1;
        if (*at != ',') return NULL;
    }
}

bool json_is_valid(const char *text)
{
    const char *end = end_of(text, 0);
    return end && !*skip_blanks(end);
}

const char *json_member(const char *object, const char *path)
{
    size_t length = strcspn(path, ".");
    if (!object || *(object = skip_blanks(object)) != '{') return NULL;
    do {
        const char *key = skip_blanks(object + 1);
        if (*key != '"') return NULL; /* {} */
        const char *end = string_end(key), *value = skip_blanks(skip_blanks(end) + 1);
        if ((size_t)(end - key) == length + 2 && !strncmp(key + 1, path, length))
            return path[length] ? json_member(value, path + length + 1) : value;
        object = skip_blanks(end_of(value, 0));
    } while (*object == ',');
    return NULL;
}

const char *json_item(const char *array, size_t index)
{
    if (!array || *(array = skip_blanks(array)) != '[') return NULL;
    const char *value = skip_blanks(array + 1);
    if (*value == ']') return NULL;
    while (index--) {
        value = skip_blanks(end_of(value, 0));
        if (*value != ',') return NULL;
        value = skip_blanks(value + 1);
    }
    return value;
}

/* The number that the digits after \\u name. */
static uint32_t code_unit(const char *digits)
{
    char own[DIGITS + 1] = "";
    memcpy(own, digits, DIGITS);
    return (uint32_t)strtoul(own, NULL, 16);
}

/* Writes what stands after a backslash as UTF-8. Returns its last character. */
static const char *put_escaped(FILE *out, const char *at)
{
    enum { PAIR = 0xd800 >> 10, HALF = 0x3ff, BEYOND = 0x10000 }; /* of two code units */
    static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char *name = strchr(names, *at);
    uint32_t c = (unsigned char)(name ? meant[name - names] : *at);
    if (*at == 'u') {
        c = code_unit(at + 1);
        at += DIGITS;
        if (c >> 10 == PAIR && at[1] == '\\' && at[2] == 'u') {
            c = BEYOND + ((c & HALF) << 10 | (code_unit(at + 3) & HALF));
            at += DIGITS + 2;
        }
    }
    unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < BEYOND ? 2 : 3; /* bytes after the first */
    fputc((int)(more ? (0xf00 >> (more + 1) & 0xff) | c >> 6 * more : c), out);
    while (more--) fputc((int)(0x80 | (c >> 6 * more & 0x3f)), out);
    return at;
}

char *json_string(const char *value)
{
    char *text;
    size_t size;
    if (!value || *value != '"') return NULL;
    FILE *out = allocated(open_memstream(&text, &size));
    for (const char *at = value + 1; *at != '"'; at++)
        if (*at == '\\')
            at = put_escaped(out, at + 1);
        else
            fputc(*at, out);
    fclose(out);
    return text;
}

uint64_t json_unsigned(const char *value) { return value ? strtoull(value, NULL, 10) : 0; }
