/* json.c — writing JSON: commas, indentation, escapes. */
#include "json.h"
#include "visible.h"
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum {
    LINES_DEPTH = JSON_IN_LINE - 1, /* what lies deeper stands in one line */
    INDENT = 2,
    SHOWN = 9, /* digits of a real number */
    EXACT = 17,
};

static void new_line(struct json *j)
{
    if (j->depth > LINES_DEPTH) return;
    fprintf(j->out, "\n%*s", (int)(INDENT * j->depth), "");
}

/* One character, or a byte that is none. Returns how many bytes it was. */
static size_t put_character(FILE *out, const char *text, bool is_exact)
{
    uint32_t character;
    size_t length = visible_decode(text, &character);
    if (length == 0) {
        fprintf(out, "\\u%04x", is_exact ? 0xdc00U + (unsigned char)*text : 0xfffdU);
        return 1;
    }
    if (character == '"' || character == '\\')
        fprintf(out, "\\%c", (int)character);
    else if (character == '\n')
        fputs("\\n", out);
    else if (character < ' ' || character == 0x7f)
        fprintf(out, "\\u%04x", (unsigned)character);
    else
        fwrite(text, 1, length, out);
    return length;
}

static void put_text(const struct json *j, const char *text)
{
    fputc('"', j->out);
    while (*text != '\0') text += put_character(j->out, text, j->is_exact);
    fputc('"', j->out);
}

/* What stands before a value. */
static void begin_value(struct json *j, const char *key)
{
    if (j->has_value) fputs(j->depth > LINES_DEPTH ? ", " : ",", j->out);
    if (j->depth > 0) new_line(j);
    j->has_value = true;
    if (key == NULL) return;
    put_text(j, key);
    fputs(": ", j->out);
}

void json_open(struct json *j, const char *key, char bracket)
{
    begin_value(j, key);
    fputc(bracket, j->out);
    j->depth++;
    j->has_value = false;
}

void json_close(struct json *j, char bracket)
{
    j->depth--;
    if (j->has_value && j->depth < LINES_DEPTH) new_line(j);
    fputc(bracket, j->out);
    j->has_value = true;
    if (j->depth == 0) fputc('\n', j->out);
}

void json_text(struct json *j, const char *key, const char *text)
{
    begin_value(j, key);
    if (text != NULL)
        put_text(j, text);
    else
        fputs("null", j->out);
}

void json_number(struct json *j, const char *key, uint64_t number)
{
    begin_value(j, key);
    fprintf(j->out, "%" PRIu64, number);
}

void json_real(struct json *j, const char *key, double number)
{
    begin_value(j, key);
    fprintf(j->out, "%.*g", j->is_exact ? EXACT : SHOWN, number);
}

void json_numbers(struct json *j, const char *key, const uint64_t *numbers, size_t count)
{
    begin_value(j, key);
    fputc('[', j->out);
    for (size_t i = 0; i < count; i++) fprintf(j->out, "%s%" PRIu64, i ? ", " : "", numbers[i]);
    fputc(']', j->out);
}

void json_bool(struct json *j, const char *key, bool value)
{
    begin_value(j, key);
    fputs(value ? "true" : "false", j->out);
}

void json_put(struct json *j, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    while (*(format += strspn(format, " "))) {
        char own[64];
        size_t length = strcspn(format, "{[}]$#?!");
        const char *key = length ? own : NULL, kind = format[length];
        snprintf(own, sizeof own, "%.*s", (int)length, format);
        format += length + 1;
        if (kind == '{' || kind == '[') json_open(j, key, kind);
        if (kind == '}' || kind == ']') json_close(j, kind);
        if (kind == '$') json_text(j, key, va_arg(values, const char *));
        if (kind == '#') json_number(j, key, va_arg(values, uint64_t));
        if (kind == '?') json_bool(j, key, va_arg(values, int));
        if (kind != '!') continue;
        begin_value(j, key);
        fputs(va_arg(values, const char *), j->out);
    }
    va_end(values);
}
