/* print.h — numbers, progress, records, and the result as a file. */
#ifndef PRINT_H
#define PRINT_H

#include "common/files/fault.h"
#include "common/files/files.h"
#include "common/step/element.h"
#include "common/step/options.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- formats numbers for people to read, and colours text for terminals ---------------------- */

/* A formatted number, returned by value so that several fit into one printf. */
struct text {
    char s[40];
};

struct text format_count(uint64_t); /* 1048576 → "1 048 576", from five digits on */
const char *plural(uint64_t count); /* "" for 1, otherwise "s": "1 block", "2 blocks" */
struct text format_bytes(uint64_t); /* 2048 → "2 KiB"; exact multiples and else one decimal */
struct text format_seconds(double); /* 1.2e-5 → "12.0 µs" */
struct text format_rate(double bytes_per_second); /* 3.1e12 → "3100 GB/s" */
struct text format_percent(double fraction);      /* 0.934 → "93.4 %" */

/* The last plain name of a mangled one: "scan" of _ZN12_GLOBAL__N_14scanIfEEvPT_. A name that is
 * not mangled stays. */
void format_kernel(const char *mangled, char *name, size_t size);

/* Escape sequences for a stream. They are empty strings if it is not a terminal or NO_COLOR is
 * set. */
struct style {
    const char *strong, *quiet, *good, *bad, *end;
};
struct style style_of(FILE *);

/* ---- how far work is that takes longer than two seconds -------------------------------------- */

/* A bar on a terminal, plain lines if stderr is a file or a pipe. EMU_PROGRESS=0 in the environment
 * turns the lines off. The emulator says itself how far a launch is. */

/* Starts to show `label` (not copied) with `total` units of work ahead. */
void progress_begin(const char *label, size_t total);
/* `done` units of the work are done. A call takes little time. */
void progress_at(size_t done);
/* Removes the bar from the terminal. Lines stay. */
void progress_end(void);

/* ---- one result as a list of keys and values, printed as a JSON object or as a CSV row ------- */

/* Both have the same keys in the same order. A value that does not exist is null in JSON and an
 * empty field in CSV. */

#define RECORD_FIELDS 72
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
/* The value if it is `known`, otherwise null. */
#define record_known_text(record, known, key, text)                                                \
    ((known) ? record_text(record, key, "%s", text) : record_null(record, key))
#define record_known_integer(record, known, key, value)                                            \
    ((known) ? record_integer(record, key, value) : record_null(record, key))
#define record_known_bool(record, known, key, value)                                               \
    ((known) ? record_bool(record, key, value) : record_null(record, key))

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

/* ---- writes the result into a file, completely or not at all --------------------------------- */

/* A regular file is first written as a new one beside it. When it is complete, it replaces the old
 * file. Devices and pipes are written directly (files.h). */

struct output {
    const char *path; /* as the user gave it */
    struct replacement replacement;
    FILE *file; /* that of the replacement, or stdout */
    bool as_it_is; /* elements are written as they are in memory, not as text */
    enum element element;
};

/* Has all that was printed to stdout been written? */
bool standard_written(void);

/* "-", and the names that the system has for it, such as /dev/stdout. */
bool output_is_stdout(const char *path);

/* Can the path be written? This is asked before a long run, and leaves nothing behind. */
int output_check(const char *path, struct fault *);

/* Begins to write n elements: as .npy if the path ends so (with the type of the elements, <f4 for
 * float), otherwise as text, one number per line. Each function returns 0 or EXIT_USAGE. After a
 * failure nothing of the file is left. */
int output_begin(struct output *, const char *path, enum element, size_t n, struct fault *);
/* Begins an array of several dimensions, as .npy whatever the path ends in. */
int output_begin_npy(struct output *, const char *path, enum element, const size_t *shape,
                     unsigned dimensions, struct fault *);
/* Begins to write bytes, which are written as they are, whatever the path ends in. */
int output_begin_bytes(struct output *, const char *path, struct fault *);
int output_add(struct output *, const void *elements, size_t count, struct fault *);
int output_end(struct output *, struct fault *);
/* All of these at once, for n elements. */
int output_array(const char *path, enum element, const void *elements, size_t n, struct fault *);
/* A write to output->file itself has failed, for the reason in errno. */
int output_failed(struct output *, struct fault *);
/* Drops what was written so far. */
void output_abandon(struct output *);

#endif
