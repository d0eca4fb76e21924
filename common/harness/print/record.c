#include "record.h"

#include "common/files/visible.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static struct record_field *append(struct record *record, const char *key)
{
    static struct record_field overflow; /* see record.h: a bug, but not a crash */
    if (record->count == RECORD_FIELDS) return &overflow;
    struct record_field *field = &record->fields[record->count++];
    field->key = key;
    field->kind = FIELD_NULL;
    field->text[0] = '\0';
    return field;
}

void record_null(struct record *record, const char *key) { append(record, key); }

void record_text(struct record *record, const char *key, const char *format, ...)
{
    struct record_field *field = append(record, key);
    field->kind = FIELD_TEXT;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(field->text, sizeof field->text, format, arguments);
    va_end(arguments);
}

void record_integer(struct record *record, const char *key, uint64_t value)
{
    struct record_field *field = append(record, key);
    field->kind = FIELD_NUMBER;
    snprintf(field->text, sizeof field->text, "%llu", (unsigned long long)value);
}

void record_number(struct record *record, const char *key, double value)
{
    struct record_field *field = append(record, key);
    if (!isfinite(value)) return;
    field->kind = FIELD_NUMBER;
    snprintf(field->text, sizeof field->text, "%.9g", value);
}

void record_bool(struct record *record, const char *key, bool value)
{
    struct record_field *field = append(record, key);
    field->kind = FIELD_NUMBER; /* written bare in both formats */
    strcpy(field->text, value ? "true" : "false");
}

/* Writes a character as an escape sequence of JSON. A character beyond the first plane of Unicode
 * becomes two. */
static void print_json_escape(FILE *to, uint32_t character)
{
    if (character < 0x10000) {
        fprintf(to, "\\u%04x", character);
        return;
    }
    character -= 0x10000;
    fprintf(to, "\\u%04x\\u%04x", 0xD800 | character >> 10, 0xDC00 | (character & 0x3FF));
}

void record_json_string(FILE *to, const char *text)
{
    enum { REPLACEMENT = 0xFFFD }; /* the replacement character of Unicode */
    putc('"', to);
    while (*text) {
        uint32_t character;
        size_t length = visible_decode(text, &character);
        if (length == 0)
            print_json_escape(to, REPLACEMENT);
        else if (character == '"' || character == '\\')
            fprintf(to, "\\%c", (char)character);
        else if (visible_is_control(character))
            print_json_escape(to, character);
        else
            fwrite(text, 1, length, to);
        text += length ? length : 1;
    }
    putc('"', to);
}

/* Fields with a comma or a quote are quoted, and quotes doubled: RFC 4180. A line's end is made
 * visible, so that a row is one line. */
static void print_csv_field(FILE *to, const char *field)
{
    char text[VISIBLE_GROWTH * RECORD_TEXT];
    visible(text, sizeof text, field);
    if (!strpbrk(text, ",\"")) {
        fputs(text, to);
        return;
    }
    putc('"', to);
    for (const char *at = text; *at; at++) {
        if (*at == '"') putc('"', to);
        putc(*at, to);
    }
    putc('"', to);
}

void record_open(FILE *to, enum report_format format, bool single)
{
    if (format == REPORT_JSON && !single) fputs("[\n", to);
}

void record_print_json(FILE *to, const struct record *record)
{
    fputs("{", to);
    for (size_t i = 0; i < record->count; i++) {
        const struct record_field *field = &record->fields[i];
        fprintf(to, "%s\n  \"%s\": ", i ? "," : "", field->key);
        if (field->kind == FIELD_TEXT)
            record_json_string(to, field->text);
        else
            fputs(field->kind == FIELD_NULL ? "null" : field->text, to);
    }
}

void record_print(FILE *to, enum report_format format, const struct record *record, size_t index)
{
    if (format == REPORT_JSON) {
        if (index) fputs(",\n", to);
        record_print_json(to, record);
        fputs("\n}", to);
        return;
    }
    for (size_t i = 0; i < record->count && index == 0; i++)
        fprintf(to, "%s%s", i ? "," : "", record->fields[i].key);
    if (index == 0) putc('\n', to);
    for (size_t i = 0; i < record->count; i++) {
        if (i) putc(',', to);
        print_csv_field(to, record->fields[i].text);
    }
    putc('\n', to);
}

void record_close(FILE *to, enum report_format format, bool single)
{
    if (format == REPORT_JSON) fputs(single ? "\n" : "\n]\n", to);
}
