/* print.c — numbers as text, records, and the result as a file. */
#define _GNU_SOURCE
#include "common/files/visible.h"
#include "print.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
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

void format_kernel(const char *mangled, char *name, size_t size)
{
    const char *at = mangled, *base = mangled;
    size_t length = strlen(mangled);
    if (strncmp(at, "_Z", 2) == 0) {
        bool nested = at[2] == 'N'; /* otherwise the parameters' types follow the first name */
        at += nested ? 3 : 2;
        if (*at == 'L') at++; /* it is static */
        while (isdigit((unsigned char)*at) && (nested || base == mangled)) {
            char *begin;
            length = strtoul(at, &begin, 10);
            base = begin;
            at = length <= strlen(begin) ? begin + length : "";
            if (*at == 'L') at++;
        }
    }
    snprintf(name, size, "%.*s", (int)length, base);
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

/* ---- output ---------------------------------------------------------------------------------- */

#define NPY_ALIGNMENT 64 /* the elements begin at a multiple of it */

bool standard_written(void) { return fflush(stdout) == 0 && !ferror(stdout); }

bool output_is_stdout(const char *path)
{
    return strcmp(path, "-") == 0 || replacement_descriptor(path) == STDOUT_FILENO;
}

static bool ends_in_npy(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

static int cannot_write(const char *path, int error, struct fault *fault)
{
    return fail(fault, EXIT_USAGE, "cannot write %s: %s.", output_is_stdout(path) ? "stdout" : path,
                strerror(error));
}

int output_check(const char *path, struct fault *fault)
{
    int error = output_is_stdout(path) ? 0 : replacement_check(path);
    return error ? cannot_write(path, error, fault) : 0;
}

/* ---- the content of the file ----------------------------------------------------------------- */

/* NumPy's format version 1: see input_npy.c. */
static bool write_npy_header(FILE *file, enum element element, const size_t *shape,
                             unsigned dimensions)
{
    static const char *const descr[] = {
        [ELEMENT_F32] = "<f4", [ELEMENT_F64] = "<f8", [ELEMENT_I32] = "<i4", [ELEMENT_I64] = "<i8",
        [ELEMENT_I16] = "<i2", [ELEMENT_I8] = "|i1",  [ELEMENT_U32] = "<u4", [ELEMENT_U64] = "<u8",
    };
    char header[2 * NPY_ALIGNMENT];
    int used = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                        descr[element]);
    for (unsigned i = 0; i < dimensions; i++)
        used += snprintf(header + used, sizeof header - (size_t)used, i ? " %zu%s" : "%zu%s",
                         shape[i], i + 1 < dimensions || !i ? "," : "");
    used += snprintf(header + used, sizeof header - (size_t)used, "), }");
    unsigned length = 2 * NPY_ALIGNMENT - 10; /* what stands before the dictionary has 10 bytes */
    return fprintf(file, "\x93NUMPY%c%c%c%c", 1, 0, (char)length, 0) == 10 &&
           fprintf(file, "%s%*s\n", header, (int)length - used - 1, "") == (int)length;
}

/* The elements, as text or as they are in memory. */
static bool write_elements(struct output *output, const void *elements, size_t count)
{
    FILE *file = output->file;
    char text[48];
    if (output->as_it_is)
        return fwrite(elements, element_size(output->element), count, file) == count;
    for (size_t i = 0; i < count; i++) {
        element_text(output->element, elements, i, text, sizeof text);
        if (fputs(text, file) < 0 || putc('\n', file) == EOF) return false;
    }
    return true;
}

/* ---- from beginning to end ------------------------------------------------------------------- */

static int give_up(struct output *output, int error, struct fault *fault)
{
    output_abandon(output);
    return cannot_write(output->path, error, fault);
}

/* Opens the file, and writes the header of an array with this shape if it has dimensions. */
static int begin(struct output *output, const char *path, enum element element, bool as_it_is,
                 const size_t *shape, unsigned dimensions, struct fault *fault)
{
    bool is_stdout = output_is_stdout(path);
    *output = (struct output){.path = path, .element = element, .as_it_is = as_it_is};
    int error = is_stdout ? 0 : replacement_begin(&output->replacement, path);
    output->file = is_stdout ? stdout : output->replacement.file;
    if (!error && dimensions && !write_npy_header(output->file, element, shape, dimensions))
        error = errno;
    return error ? give_up(output, error, fault) : 0;
}

int output_begin(struct output *output, const char *path, enum element element, size_t n,
                 struct fault *fault)
{
    bool npy = ends_in_npy(path);
    return begin(output, path, element, npy, &n, npy, fault);
}

int output_begin_npy(struct output *output, const char *path, enum element element,
                     const size_t *shape, unsigned dimensions, struct fault *fault)
{
    return begin(output, path, element, true, shape, dimensions, fault);
}

int output_begin_bytes(struct output *output, const char *path, struct fault *fault)
{
    return begin(output, path, ELEMENT_I8, true, NULL, 0, fault);
}

int output_failed(struct output *output, struct fault *fault)
{
    return give_up(output, errno, fault);
}

int output_add(struct output *output, const void *elements, size_t count, struct fault *fault)
{
    return write_elements(output, elements, count) ? 0 : give_up(output, errno, fault);
}

int output_end(struct output *output, struct fault *fault)
{
    int error = 0;
    if (output->file != stdout)
        error = replacement_end(&output->replacement);
    else if (fflush(stdout) != 0)
        error = errno;
    return error ? give_up(output, error, fault) : 0;
}

int output_array(const char *path, enum element element, const void *elements, size_t n,
                 struct fault *fault)
{
    struct output output;
    int code = output_begin(&output, path, element, n, fault);
    if (!code) code = output_add(&output, elements, n, fault);
    return code ? code : output_end(&output, fault);
}

void output_abandon(struct output *output)
{
    if (output->replacement.file) replacement_drop(&output->replacement);
}
