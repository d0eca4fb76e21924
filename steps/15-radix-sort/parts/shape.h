/*
 * shape.h — the sizes of the fast sort: digits, tiles, blocks, and which kernel takes which n.
 *
 * The numbers with an #ifndef are smaller in tests, so that few keys take the kernels for many.
 */
#ifndef STEP15_SHAPE_H
#define STEP15_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#define LANES 32

/* A pass sorts by one digit. */
#define DIGIT_BITS        8
#define DIGITS            (1 << DIGIT_BITS)
#define PASSES(key_bytes) ((key_bytes)*8 / DIGIT_BITS)
#define PASSES_MOST       PASSES(8)

/* ---- onesweep.cuh: a block sorts a tile of THREADS x KEYS keys by a digit -------------------- */

#ifndef ONESWEEP_THREADS
#define ONESWEEP_THREADS 512
#endif
/* Blocks that a multiprocessor is to hold: fewer leave more registers for a thread. */
#define ONESWEEP_BLOCKS 2
/* Keys a thread, for keys of 4 and of 8 bytes, alone and with values: as many as there are
 * registers for. The larger the tile, the longer its runs of keys with the same digit. */
#ifndef ONESWEEP_KEYS_4
#define ONESWEEP_KEYS_4 26
#endif
#ifndef ONESWEEP_KEYS_8
#define ONESWEEP_KEYS_8 16
#endif
#ifndef ONESWEEP_PAIRS_4
#define ONESWEEP_PAIRS_4 20
#endif
#ifndef ONESWEEP_PAIRS_8
#define ONESWEEP_PAIRS_8 14
#endif
/* Tiles that a thread asks for at a time when it looks back. */
#define ONESWEEP_WINDOW 4

#define ONESWEEP_MOST_KEYS(key_bytes, pairs)                                                       \
    ((key_bytes) == 8 ? ((pairs) ? ONESWEEP_PAIRS_8 : ONESWEEP_KEYS_8)                             \
                      : ((pairs) ? ONESWEEP_PAIRS_4 : ONESWEEP_KEYS_4))
/* `half`: a tile has half as many keys, as a block of an older GPU may have no room for more: one
 * of a Turing GPU has 64 KiB of shared memory. */
#define ONESWEEP_KEYS(key_bytes, pairs, half)                                                      \
    ((half) ? (ONESWEEP_MOST_KEYS(key_bytes, pairs) + 1) / 2 : ONESWEEP_MOST_KEYS(key_bytes, pairs))
#define ONESWEEP_TILE(key_bytes, pairs, half)                                                      \
    (ONESWEEP_THREADS * ONESWEEP_KEYS(key_bytes, pairs, half))

/* A state of a tile takes 4 bytes for fewer keys than this, otherwise 8. */
#ifndef NARROW_STATES_MAX
#define NARROW_STATES_MAX ((size_t)1 << 30)
#endif

/* ---- histogram.cuh --------------------------------------------------------------------------- */

#define HISTOGRAM_THREADS 1024
/* Vectors of 16 bytes that a thread reads at a time. */
#define HISTOGRAM_VECTORS 4
/* Copies of each counter, so that lanes use different banks: few for small n, many for large n.
 * A multiple of 4, and at most 32. */
#define HISTOGRAM_FEW    4
#define HISTOGRAM_MANY_4 16
#define HISTOGRAM_MANY_8 8
#ifndef HISTOGRAM_MANY_FROM
#define HISTOGRAM_MANY_FROM ((size_t)1 << 22)
#endif
#define HISTOGRAM_MANY(key_bytes) ((key_bytes) == 8 ? HISTOGRAM_MANY_8 : HISTOGRAM_MANY_4)

/* ---- resident.cuh: the keys stay in the shared memory of one block, or of a cluster ---------- */

#define RESIDENT_THREADS 512
/* More keys than this are not resident, whatever there is room for: alone, and with values. */
#ifndef RESIDENT_MAX
#define RESIDENT_MAX ((size_t)1 << 16)
#endif
#define RESIDENT_PAIRS_MAX (RESIDENT_MAX / 2)
/* Keys a thread at most: 1, 2, 4 or 8. */
#define RESIDENT_KEYS_MOST 8
/* Blocks of a cluster: more than 8 have to be asked for, and not each GPU grants them. */
#define CLUSTER_MOST     16
#define CLUSTER_PORTABLE 8
/* One block takes up to this many keys where clusters exist; above that, a cluster. */
#define RESIDENT_ALONE_MAX 2048

/* What a resident sort of n keys is divided into. blocks 0: n is too large for it. */
struct resident_shape {
    unsigned blocks, keys; /* blocks of the cluster, keys a thread */
};

/* `most` blocks may form a cluster; 1: there are no clusters. Blocks are added before keys, as the
 * time is that of the keys of one block. */
static inline struct resident_shape resident_shape(size_t n, bool pairs, unsigned most)
{
    struct resident_shape s = {1, 1};
    if (n > (pairs ? RESIDENT_PAIRS_MAX : RESIDENT_MAX)) return (struct resident_shape){0, 0};
    if (n <= RESIDENT_ALONE_MAX) most = 1;
    while ((size_t)s.blocks * s.keys * RESIDENT_THREADS < n && s.blocks < most) s.blocks *= 2;
    while ((size_t)s.blocks * s.keys * RESIDENT_THREADS < n && s.keys < RESIDENT_KEYS_MOST)
        s.keys *= 2;
    if ((size_t)s.blocks * s.keys * RESIDENT_THREADS < n) s.blocks = 0;
    return s;
}

/* ---- wave.cuh: one launch, whose blocks exchange keys through the L2 cache ------------------- */

#ifndef WAVE_THREADS
#define WAVE_THREADS 1024
#endif
/* Blocks at most, though there may be more multiprocessors. */
#ifndef WAVE_BLOCKS_MOST
#define WAVE_BLOCKS_MOST 160
#endif
/* Keys a thread at most: 1, 2, 4 or 8. */
#define WAVE_KEYS_MOST 8
/* More keys than this are not sorted in a wave, whatever there is room for. */
#ifndef WAVE_MAX
#define WAVE_MAX ((size_t)1 << 20)
#endif
/* The counts of a block: those of four digits are a word. */
#define WAVE_WORDS (DIGITS / 4)

/* What a wave of n keys is divided into. keys 0: n is too large for it. */
struct wave_shape {
    unsigned blocks, keys; /* keys a thread */
};

/* A block reads the counts of all blocks. So half of the multiprocessors are faster than all, as
 * long as a thread has no more than half of the keys that it could have. */
static inline struct wave_shape wave_shape(size_t n, unsigned multiprocessors)
{
    unsigned all = multiprocessors < WAVE_BLOCKS_MOST ? multiprocessors : WAVE_BLOCKS_MOST;
    unsigned half = all > 1 ? all / 2 : all;
    struct wave_shape s = {half, 1};
    if (n > (size_t)half * WAVE_THREADS * WAVE_KEYS_MOST / 2) s.blocks = all;
    while (s.keys < WAVE_KEYS_MOST && (size_t)s.keys * s.blocks * WAVE_THREADS < n) s.keys *= 2;
    if (n > WAVE_MAX || n > (size_t)s.keys * s.blocks * WAVE_THREADS) s.keys = 0;
    return s;
}

#endif
