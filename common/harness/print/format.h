/*
 * format.h — formats numbers for people to read, and colours text for terminals.
 */
#ifndef FORMAT_H
#define FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A formatted number, returned by value so that several fit into one printf. */
struct text {
    char s[40];
};

struct text format_count(uint64_t); /* 1048576 → "1 048 576", from five digits on */
const char *plural(uint64_t count); /* "" for 1, otherwise "s": "1 block", "2 blocks" */
struct text format_bytes(uint64_t); /* 2048 → "2 KiB"; exact multiples and else one decimal */
struct text format_seconds(double); /* 1.2e-5 → "12.0 µs" */
struct text format_duration(double seconds);      /* whole units: "9 s", "17 min", "2 h 5 min" */
struct text format_rate(double bytes_per_second); /* 3.1e12 → "3100 GB/s" */
struct text format_percent(double fraction);      /* 0.934 → "93.4 %" */

/* Escape sequences for a stream. They are empty strings if it is not a terminal or NO_COLOR is
 * set. */
struct style {
    const char *strong, *quiet, *good, *bad, *end;
};
struct style style_of(FILE *);

#ifdef __cplusplus
}
#endif

#endif
