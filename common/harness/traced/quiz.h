/*
 * quiz.h — questions to work out, made for a word, such as a student's number. The same word gives
 * the same questions on every machine. The step's own kernels answer them: each answer is read in
 * the trace of their run on the emulator.
 */
#ifndef QUIZ_H
#define QUIZ_H

#include "traced.h"

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

/* A number below this one. */
size_t quiz_draw(struct quiz *, size_t below);

/* quiz.c: makes a question. False: the kernel gives no occasion for it. */
typedef bool ask_fn(struct quiz *, struct question *);
ask_fn ask_value, ask_level, ask_banks, ask_sectors;

#endif
