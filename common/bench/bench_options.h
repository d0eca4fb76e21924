/*
 * bench_options.h — what the user asked for on the command line of ./bench.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "common/step/options.h"
#include "common/harness/run/device.h"

#define BENCH_SIZES 200

struct bench_options {
    size_t sizes[BENCH_SIZES];
    bool neighbour[BENCH_SIZES]; /* a size that --near has added */
    size_t size_count;          /* 0: the default, which depends on the device */
    bool near;                  /* n - 1 and n + 1, too */
    const char *steps;          /* for contenders_find */
    enum element types[6];      /* in the order given */
    size_t type_count;
    int reps; /* rounds; REPS_DEFAULT */
    enum flush flush;
    enum report_format format;
    enum device_choice device;
    const char *for_scans; /* an option that only scans have, as it was given; NULL: none */
    bool help, version;
};

/* Reads the command line. Returns 0, or EXIT_USAGE with a sentence in fault. */
int bench_options_parse(struct bench_options *, int argc, char *const *argv, struct fault *);
void bench_options_help(FILE *);

/* "f32" and so on. */
const char *type_name(enum element);

#endif
