/* curand_inside.h — what the files of the emulator's cuRAND share.
 *
 * NVIDIA's generators spread a sequence over threads: each thread has a subsequence of its own, far
 * from those of the others, and the threads write one after the other, an *item* each: one number,
 * or the two that Box and Muller make of two uniform ones. So do these. */
#ifndef EMU_CURAND_INSIDE_H
#define EMU_CURAND_INSIDE_H

#include "common/tools/emu/libs/include/curand.h"
#include "stand_in.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- engines (curand_engines.c) -------------------------------------------------------------- */

/* A thread's state. */
struct xorwow {
    uint32_t shifted[5], added;
};
struct mrg {
    uint32_t first[3], second[3];
};
union engine {
    struct xorwow xorwow;
    struct mrg mrg;
};
enum { XORWOW_THREADS = 4096, MRG_THREADS = 81920, PHILOX_THREADS = 65536 };
enum { MOST_DIMENSIONS = 21, SOBOL_BITS = 32 };

/* Sets the threads to the beginnings of their subsequences. */
void xorwow_start(union engine *threads, uint64_t seed);
void mrg_start(union engine *threads, uint64_t seed);
/* Go on by this number of steps. */
void xorwow_skip(struct xorwow *, uint64_t steps);
void mrg_skip(struct mrg *, uint64_t steps);
uint32_t xorwow_next(struct xorwow *);
/* From 1 to 4294967087. */
uint32_t mrg_next(struct mrg *);
/* The four words of a block of a subsequence. */
void philox_block(uint64_t seed, uint64_t subsequence, uint64_t block, uint32_t words[4]);
/* The direction numbers of a dimension, from 0. */
void sobol_directions(unsigned dimension, uint32_t directions[SOBOL_BITS]);
uint32_t sobol_point(const uint32_t directions[SOBOL_BITS], uint64_t index);

/* ---- distributions (curand.c) ---------------------------------------------------------------- */

/* What is generated; pairs come from one item, except of quasi-random generators. */
enum distribution { WORDS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, POISSON };
/* With it: the parameters of normal and log-normal numbers, or the table of Poisson's. */
struct shape {
    enum distribution distribution;
    bool is_log;
    double mean, deviation; /* of POISSON: mean is lambda */
    const double *cumulated;
    size_t first, count; /* of the table: its first value, and how many it has */
};

static inline bool is_paired(enum distribution d) { return d == NORMAL || d == NORMAL_DOUBLE; }
static inline bool is_double(enum distribution d)
{
    return d == UNIFORM_DOUBLE || d == NORMAL_DOUBLE;
}

#endif
