/*
 * record.h — one result as a list of keys and values, printed as a JSON object or as a CSV row.
 * Both have the same keys in the same order. A value that does not exist is null in JSON and an
 * empty field in CSV.
 */
#ifndef RECORD_H
#define RECORD_H

#include "common/step/options.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RECORD_FIELDS 64
#define RECORD_TEXT   420

struct record_field {
    const char *key; /* lower case with underscores; the unit is its last word; not copied */
    enum { FIELD_NULL, FIELD_TEXT, FIELD_NUMBER } kind;
    char text[RECORD_TEXT];
};

struct record {
    size_t count;
    struct record_field fields[RECORD_FIELDS];
};

/* An empty record is `{0}`. Each of these appends a field; those beyond RECORD_FIELDS are a bug. */
void record_null(struct record *, const char *key);
void record_text(struct record *, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void record_integer(struct record *, const char *key, uint64_t);
void record_number(struct record *, const char *key, double); /* NaN and infinity become null */
void record_bool(struct record *, const char *key, bool);

/* Prints records one after another: record_open, record_print for each, record_close. JSON: an
 * array, or a lone object if `single`. CSV: the keys, then a row each. */
void record_open(FILE *, enum report_format, bool single);
void record_print(FILE *, enum report_format, const struct record *, size_t index);
void record_close(FILE *, enum report_format, bool single);
/* A JSON object without its closing brace: for a caller that adds to it. */
void record_print_json(FILE *, const struct record *);

/* Prints a string as JSON, with its quotes. Bytes that are not UTF-8 become U+FFFD, because JSON
 * has no others. In CSV they are made visible, as control characters are (visible.h). */
void record_json_string(FILE *, const char *);

#ifdef __cplusplus
}
#endif

#endif
