/* options.h — the options that the user gave on the command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "common/files/fault.h"
#include "step.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROGRAM_VERSION "0.1"

enum device_choice { DEVICE_AUTO, DEVICE_CUDA, DEVICE_EMU };
enum verify_mode { VERIFY_FULL, VERIFY_NONE };
enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_CSV };

#define REPS_DEFAULT (-1) /* the harness chooses: many on a GPU, few on the emulator */
#define REPS_MAX     100000
#define OFFSET_MAX   ((size_t)1 << 20)

struct options {
    size_t n; /* elements; the step's default unless n_given (with --input: what the file has) */
    bool n_given; /* --n */

    const char *input; /* a file, "-" for stdin; NULL: random numbers */
    bool input_rounded; /* the program found, when it read `input`, that numbers were rounded */
    bool real;         /* random real numbers instead of random integers */
    uint64_t seed;
    bool seed_given;    /* --seed */
    const char *output; /* a file, "-" for stdout; NULL: none */

    int variant; /* index into step.variants */
    bool inclusive;
    bool in_place;
    size_t offset; /* the displacement of the buffers from their alignment, in elements */

    int reps; /* timed runs; 0: none; REPS_DEFAULT */
    enum verify_mode verify;
    enum device_choice device;
    const char *trace; /* a file for the emulator's trace, "/dev/stdout" for "-"; NULL: none */
    bool counters;     /* the table of counters by source line */
    bool levels;       /* the table of what warps do between two barriers */
    const char *quiz;  /* the word that questions are made for, "-": each line of stdin; or NULL */
    bool solve;        /* with their answers */
    enum report_format format;

    bool help, version;
    char *const *argv; /* as given to main: device.c may have to start the program again */
};

/* Reads the command line (and the environment variable DEVICE) for this step. The step's own
 * options are handed to their set(), with `self`. Strings point into argv. Returns 0, or EXIT_USAGE
 * with the sentence in fault. Limits on n are not checked here: see options_check_n. */
int options_parse(struct options *, const struct step *, void *self, int argc,
                  char *const *argv, struct fault *);

/* A step's own options that do not go together: of rows that end with {0}, the first that holds is
 * refused by its sentence. Returns 0 or EXIT_USAGE. */
struct refusal {
    bool holds;
    const char *sentence;
};
int options_refuse(const struct refusal *, struct fault *);

/* Does the step take n elements? Returns 0, or EXIT_USAGE and a sentence that names the limit and
 * the step that lifts it. `where` names the origin of n: "--n 3000", or a file. */
int options_check_n(const struct step *, size_t n, const char *where, struct fault *);

/* Prints --help. */
void options_help(const struct step *, FILE *);

/* Takes "cuda" or "emu". Returns 0, or EXIT_USAGE and a sentence that begins with `where`. */
int options_device(enum device_choice *, const char *where, const char *value, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
