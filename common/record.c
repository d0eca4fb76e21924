#include "record.h"

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

void record_json_string(FILE *to, const char *text)
{
    putc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < ' ')
            fprintf(to, "\\u%04x", c);
        else
            putc(c, to);
    }
    putc('"', to);
}

/* Fields with a comma, a quote or a line's end are quoted, and quotes doubled: RFC 4180. */
static void print_csv_field(FILE *to, const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, to);
        return;
    }
    putc('"', to);
    for (; *text; text++) {
        if (*text == '"') putc('"', to);
        putc(*text, to);
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
