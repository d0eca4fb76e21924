/*
 * pairs.h — runs the kernel of a pair race-* of tests/checks in this process: that of a line
 * PAIR(KERNEL<right>, BLOCKS, THREADS, ARGUMENTS) or COOPERATIVE(…).
 *
 * zeros<T>(n) and numbers<int>(n) become PAIR_WORDS words of memory each: all 0, or 0, 1, 2, …
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "common/emu/emu.h"
#include "tests/support/catalogue.h"

#include <stdbool.h>

enum { PAIR_WORDS = 1 << 14, PAIR_ARGUMENTS = 4 };

struct pair {
    const char *name;
    char kernel[60];
    struct checked text;
    unsigned blocks, threads, arguments;
    struct {
        bool is_memory, has_numbers;
        int value;
    } argument[PAIR_ARGUMENTS];
};

/* Reads it in its catalogue; false if its host does more than one launch. */
bool pair_read(struct pair *, const char *name);
/* Launches its wrong or its right kernel. Returns emu_launch's error. */
int pair_run(struct emu *, const struct pair *, bool right);
/* The same, and then reads the memory of its arguments. */
int pair_result(struct emu *, const struct pair *, bool right,
                int memory[PAIR_ARGUMENTS][PAIR_WORDS]);

#endif
