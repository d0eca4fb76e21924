/*
 * record.c — formats of numbers, and records of JSON and CSV.
 */
#define _GNU_SOURCE
#include "print.h"
#include "common/files/visible.h"
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- format ---------------------------------------------------------------------------------- */

struct text format_count(uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    struct text text;
    if (length < 5) {
        snprintf(text.s, sizeof text.s, "%s", digits);
        return text;
    }
    char *to = text.s;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) *to++ = ' ';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

struct text format_bytes(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct text text;
    size_t unit = 0;
    uint64_t scale = 1;
    while (unit + 1 < sizeof units / sizeof *units && bytes / scale >= 1024) {
        scale *= 1024;
        unit++;
    }
    int decimals = bytes % scale ? 1 : 0;
    snprintf(text.s, sizeof text.s, "%.*f %s", decimals, (double)bytes / (double)scale,
             units[unit]);
    return text;
}

/* Three significant digits. */
static int decimals_of(double value) { return value < 10 ? 2 : value < 100 ? 1 : 0; }

struct text format_seconds(double seconds)
{
    static const struct {
        double factor;
        const char *unit;
    } units[] = {{1e9, "ns"}, {1e6, "µs"}, {1e3, "ms"}, {1, "s"}};
    size_t unit = 0;
    while (unit + 1 < sizeof units / sizeof *units && seconds * units[unit].factor >= 1000) unit++;
    double value = seconds * units[unit].factor;
    struct text text;
    snprintf(text.s, sizeof text.s, "%.*f %s", decimals_of(value), value, units[unit].unit);
    return text;
}

struct text format_duration(double seconds)
{
    enum { MINUTE = 60, HOUR = 3600 };
    struct text text;
    long whole = (long)(seconds + 0.5);
    if (whole >= HOUR)
        snprintf(text.s, sizeof text.s, "%ld h %ld min", whole / HOUR, whole % HOUR / MINUTE);
    else if (whole >= 2 * MINUTE)
        snprintf(text.s, sizeof text.s, "%ld min", (whole + MINUTE / 2) / MINUTE);
    else
        snprintf(text.s, sizeof text.s, "%ld s", whole);
    return text;
}

struct text format_rate(double bytes_per_second)
{
    struct text text;
    double rate = bytes_per_second / 1e9;
    snprintf(text.s, sizeof text.s, "%.*f GB/s", decimals_of(rate), rate);
    return text;
}

struct text format_percent(double fraction)
{
    struct text text;
    double percent = 100 * fraction;
    snprintf(text.s, sizeof text.s, "%.*f %%", percent < 99.95 && percent > 0 ? 1 : 0, percent);
    return text;
}

struct style style_of(FILE *file)
{
    static const struct style plain = {"", "", "", "", ""};
    static const struct style colour = {"\033[1m", "\033[2m", "\033[32m", "\033[31;1m", "\033[0m"};
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool wanted = isatty(fileno(file)) && !(no_color && *no_color) &&
                  !(terminal && strcmp(terminal, "dumb") == 0);
    return wanted ? colour : plain;
}

/* ---- record ---------------------------------------------------------------------------------- */

static struct record_field *append(struct record *record, const char *key)
{
    static struct record_field overflow; /* see print.h: a bug, but not a crash */
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

void record_known_text(struct record *r, bool known, const char *key, const char *text)
{
    if (known)
        record_text(r, key, "%s", text);
    else
        record_null(r, key);
}

void record_known_integer(struct record *r, bool known, const char *key, uint64_t number)
{
    if (known)
        record_integer(r, key, number);
    else
        record_null(r, key);
}

void record_known_bool(struct record *r, bool known, const char *key, bool value)
{
    if (known)
        record_bool(r, key, value);
    else
        record_null(r, key);
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
