/* traced.h — what is read in a trace of the step's own kernels: levels, and the quiz. */
#ifndef TRACED_H
#define TRACED_H

#include "common/files/fault.h"
#include "common/step/options.h"

/* ---- runs this program once more ------------------------------------------------------------- */

/* Runs this program once more, with --trace, and reads what the emulator has written:
 * every access of the real kernels to shared and global memory. --levels and --quiz are made of
 * it. */

enum { TRACED_LANES = 32 };

/* What one warp did: a row of the trace. common/tools/emu/watch/trace.h explains its columns. */
struct access {
    unsigned launch, block, warp;
    unsigned epoch;            /* barriers that the block has passed */
    char kernel[48], line[48]; /* "scan_block", "scan.cu:43" */
    char operation[8], space[8];
    unsigned bytes; /* of a lane */
    uint32_t mask;  /* its lanes */
    unsigned wavefronts, ideal, sectors;
    uint64_t address[TRACED_LANES]; /* of the lanes in the mask */
    uint32_t value[TRACED_LANES];   /* the bits of the first word of each */
};

/* Reads a line, and changes it. False: it is none of the trace's, or its heading. */
bool access_read(char *text, struct access *);
bool access_is(const struct access *, const char *operation, const char *space);
bool access_has(const struct access *, unsigned lane);
unsigned access_lanes(const struct access *);

typedef void access_fn(void *context, const struct access *);

/* Runs the program on the emulator with these arguments (NULL at their end; the first is its name),
 * without --levels and with `--device emu --trace -`, and hands on each access. `numbers` is its
 * standard input; NULL: that of this program. Returns 0, or the other run's exit code and
 * sentence. */
int traced(char *const *arguments, const char *numbers, access_fn *, void *context, struct fault *);

/* traced.c, for --levels: a table of what warps do with shared memory between two barriers. */
int levels_show(const struct step *, const struct options *, FILE *, struct fault *);

/* quiz.c, for --quiz: questions that are made for a word, with --solve their answers. */
int quiz_show(const struct step *, const struct options *, FILE *, struct fault *);

/* ---- questions to work out, made for a word, such as a student's number ---------------------- */

/* The same word gives the same questions on every machine. The step's own kernels answer them:
 * each answer is read in the trace of their run on the emulator. */

enum {
    QUIZ_NUMBERS = 8, /* where a question names all of them */
    QUIZ_TEXT = 400,  /* bytes of a question, and of an answer */
};

/* What the first block of the first launch did, in the order in which it did it. */
struct accesses {
    struct access *of;
    size_t count, room;
};

struct quiz {
    const struct step *step;
    const struct options *options;
    const char *word;
    uint64_t random;                /* the state of the numbers that are drawn */
    char numbers[2 * QUIZ_NUMBERS]; /* one digit each */
    size_t n, offset;               /* --n and --offset of the larger run */
    char command[80];               /* of the larger run, without --offset */
    struct accesses small, large;
};

struct question {
    char text[QUIZ_TEXT], answer[QUIZ_TEXT], why[QUIZ_TEXT];
};

/* quiz.c: makes a question. False: the kernel gives no occasion for it. */
typedef bool ask_fn(struct quiz *, struct question *);

#endif
