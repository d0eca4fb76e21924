/*
 * application.h — a step that applies scan: its result is not the running sum of its input.
 *
 * Such a step is run, guarded, counted and timed as a scan is. Only what is special to it stands
 * here: how its input is read, how large its result is, what is right, and how it is written. A
 * `struct step` points to one of these (step.application), and does not set adds, depth, tree,
 * words and reference.
 *
 * In step.scan, `out` has room for output_bytes(n, variant) bytes; everything else is as step.h
 * says. Timed runs are on the input and on the reversed input, with no elements exchanged.
 */
#ifndef APPLICATION_H
#define APPLICATION_H

#include "options.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct input;   /* input.h */
struct problem; /* verify.h */
struct verdict; /* verify.h */

/* A file that an option of the step's own names. */
#define APPLICATION_FILES 2
struct application_file {
    const char *option, *path; /* path: NULL: not given; "-": stdin or stdout */
    bool written;
};

struct application {
    /* Of an input that will be generated: checks the options together, and sets input->element and
     * input->n. It makes nothing: an input that does not fit into memory is refused before it is
     * generated. Returns 0 or EXIT_USAGE. NULL only if `input` is. */
    int (*plan)(struct input *, const struct options *, struct fault *);

    /* Reads the file options->input, or generates options->n elements. Sets input->element, which
     * replaces step.element. Returns 0, or EXIT_USAGE and a sentence; then there is nothing to
     * free. NULL: numbers, as for a scan. */
    int (*input)(struct input *, const struct options *, struct fault *);

    /* Bytes of the result's buffer. The whole buffer is passed to `verify` and to `write`. */
    size_t (*output_bytes)(size_t n, int variant);

    /* Bytes of the arrays that `input` makes besides, in device memory and as many in host memory.
     * NULL: it makes none. */
    size_t (*own_bytes)(size_t n);

    /* Bytes of an element of the result, to whose multiples --offset displaces it. 0: as many as an
     * element of the input has. */
    size_t result_element;

    /* Judges a result: fills right, exact, checked, wrong, first[], shown and cause of the verdict.
     * `problem` has the input of this run (the reversed one in some runs). Bytes of `out` that the
     * step does not define must still be BUFFER_POISON. Returns 0, or EXIT_USAGE (memory). */
    int (*verify)(struct verdict *, const struct problem *problem, const struct options *,
                  const void *out, struct fault *);

    /* Writes options->output and the files of the step's own options (output.h). If it fails, or if
     * one of them cannot be completed, none of them is replaced. Called once, for a right result of
     * the input as given, if `writes` says so (NULL: if there is an options->output). Returns 0 or
     * EXIT_USAGE. */
    bool (*writes)(const struct options *);
    int (*write)(const struct options *, const struct input *, const void *out, struct fault *);

    /* After a first run: bytes that any method has to read and write for this input (the floor),
     * and bytes that this variant reads and writes. */
    double (*least_bytes)(size_t n, int variant);
    double (*moved_bytes)(size_t n, int variant);

    /* Fills in the files of the step's own options, and returns how many there are, given or not.
     * NULL: none. The harness refuses those that are the same as another file of the command
     * line. */
    size_t (*own_files)(struct application_file files[APPLICATION_FILES]);

    /* The experiment that times it beside others: ./bench runs build/experiments/NAME. NULL:
     * none. */
    const char *experiment;

    /* Is --inclusive for the application to obey? (options->inclusive.) Then its result is not
     * shifted. False: the option is refused. */
    bool takes_inclusive;

    /* Names of the harness's options that are refused because they would have no effect: "round",
     * "real", "sweep", "offset", "counters", "trace"; ends with NULL. --in-place always is.
     * NULL: no others. */
    const char *const *unused;

    /* Lines of --help about the files that it takes, in place of those about numbers. NULL:
     * numbers. */
    const char *files;

    /* What --help says of --input and of --output. NULL: as for numbers. */
    const char *input_help, *output_help;

    /* A line of the report about the variant: which of its kernels runs, and why, where the input
     * decides that; "" for no line. NULL: never. */
    void (*about_variant)(char *text, size_t size, const struct options *);

    /* A line of the report about the result, such as "kept 300 of 1000"; "" for no line. Also the
     * input in one line, such as "512 x 512 pixels of RGB, from a.png". Either may be NULL. */
    void (*result)(char *text, size_t size);
    void (*about_input)(char *text, size_t size, const struct options *);
};

#ifdef __cplusplus
}
#endif

#endif
