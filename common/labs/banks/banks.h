/*
 * banks.h — labs about bank conflicts. In two of them the answer is text: predict the counter, and
 * the bank detective. In the third it is a line of a kernel, which has to have no conflicts. The
 * emulator counts what is right.
 */
#ifndef LAB_BANKS_H
#define LAB_BANKS_H

#include "common/command/fault.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bank conflicts of one launch. */
struct conflicts {
    uint64_t loads, stores;
};

/* bank_count.c: launches a kernel of banks.cu with one block, and counts. `ptx` is the path of its
 * PTX. Returns 0 or an exit code. */
struct bank_launch {
    const char *kernel;
    unsigned threads;
    int arguments[2];
};
int count_conflicts_of(const char *ptx, const struct bank_launch *, struct conflicts *,
                       struct fault *);

/* An exercise: writes the sheet to be filled in, and checks one that has been. Both return 0 or an
 * exit code; a wrong answer is EXIT_WRONG. */
int predict_write(const char *ptx, FILE *sheet, struct fault *);
int predict_check(const char *ptx, FILE *sheet, struct fault *);
int detective_write(const char *ptx, FILE *sheet, struct fault *);
int detective_check(const char *ptx, FILE *sheet, struct fault *);

/* Judges a kernel. `ptx` is the path of the PTX that was made of the source. Returns 0 or an exit
 * code. */
int swizzle_check(const char *ptx, FILE *source, struct fault *);

#endif
