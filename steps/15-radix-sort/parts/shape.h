/*
 * shape.h — the sizes of the fast sort: digits, tiles, blocks, and which kernel takes which n.
 *
 * Each number that is only a matter of speed can be set on nvcc's command line,
 * -DONESWEEP_KEYS_4=17.
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
#define ONESWEEP_THREADS 384
#endif
/* Keys a thread, for keys of 4 and of 8 bytes, alone and with values. A block of a Turing GPU has
 * 64 KiB of shared memory. */
#ifndef ONESWEEP_KEYS_4
#define ONESWEEP_KEYS_4 19
#endif
#ifndef ONESWEEP_KEYS_8
#define ONESWEEP_KEYS_8 11
#endif
#ifndef ONESWEEP_PAIRS_4
#define ONESWEEP_PAIRS_4 16
#endif
#ifndef ONESWEEP_PAIRS_8
#define ONESWEEP_PAIRS_8 11
#endif
/* Blocks that a multiprocessor is to hold: fewer leave more registers for a thread. */
#ifndef ONESWEEP_BLOCKS
#define ONESWEEP_BLOCKS 3
#endif
/* Tiles that a thread asks for at a time when it looks back. */
#ifndef ONESWEEP_WINDOW
#define ONESWEEP_WINDOW 4
#endif
/* Up to this many keys, tiles have half as many keys, so that more multiprocessors work; and a
 * thread asks for more of them. */
#ifndef ONESWEEP_FEW_MAX
#define ONESWEEP_FEW_MAX ((size_t)1 << 19)
#endif
#ifndef ONESWEEP_FEW_WINDOW
#define ONESWEEP_FEW_WINDOW 8
#endif
/* How lanes with the same digit find each other: 0 votes on each bit, 1 uses match.any. */
#ifndef ONESWEEP_MATCH
#define ONESWEEP_MATCH 0
#endif
/* The next kernel's blocks may start while the last blocks of this one end (Hopper). */
#ifndef ONESWEEP_OVERLAP
#define ONESWEEP_OVERLAP 1
#endif

#define ONESWEEP_MANY_KEYS(key_bytes, pairs)                                                       \
    ((key_bytes) == 8 ? ((pairs) ? ONESWEEP_PAIRS_8 : ONESWEEP_KEYS_8)                             \
                      : ((pairs) ? ONESWEEP_PAIRS_4 : ONESWEEP_KEYS_4))
#define ONESWEEP_HALF(keys) ((keys) > 1 ? (keys) / 2 : 1)
/* Keys a thread; `few`: of tiles for few keys. */
#define ONESWEEP_KEYS(key_bytes, pairs, few)                                                       \
    ((few) ? ONESWEEP_HALF(ONESWEEP_MANY_KEYS(key_bytes, pairs))                                   \
           : ONESWEEP_MANY_KEYS(key_bytes, pairs))
#define ONESWEEP_TILE(key_bytes, pairs, few)                                                       \
    (ONESWEEP_THREADS * ONESWEEP_KEYS(key_bytes, pairs, few))

/* A state of a tile takes 4 bytes for fewer keys than this, otherwise 8. */
#ifndef NARROW_STATES_MAX
#define NARROW_STATES_MAX ((size_t)1 << 30)
#endif

/* ---- histogram.cuh --------------------------------------------------------------------------- */

#ifndef HISTOGRAM_THREADS
#define HISTOGRAM_THREADS 512
#endif
/* Vectors of 16 bytes that a thread reads at a time. */
#ifndef HISTOGRAM_VECTORS
#define HISTOGRAM_VECTORS 4
#endif
/* Copies of each counter, so that lanes use different banks: few for small n, many for large n.
 * A multiple of 4, and at most 32. */
#ifndef HISTOGRAM_FEW
#define HISTOGRAM_FEW 4
#endif
#ifndef HISTOGRAM_MANY_4
#define HISTOGRAM_MANY_4 16
#endif
#ifndef HISTOGRAM_MANY_8
#define HISTOGRAM_MANY_8 8
#endif
#ifndef HISTOGRAM_MANY_FROM
#define HISTOGRAM_MANY_FROM ((size_t)1 << 22)
#endif
#define HISTOGRAM_MANY(key_bytes) ((key_bytes) == 8 ? HISTOGRAM_MANY_8 : HISTOGRAM_MANY_4)

/* ---- resident.cuh: the keys stay in the shared memory of one block, or of a cluster ---------- */

#ifndef RESIDENT_THREADS
#define RESIDENT_THREADS 512
#endif
/* More keys than this are not resident, whatever there is room for. */
#ifndef RESIDENT_MAX
#define RESIDENT_MAX ((size_t)1 << 16)
#endif
/* Keys a thread at most, in a cluster and in a block that is alone: 1, 2, 4, 8 or 16. */
#ifndef RESIDENT_KEYS_MOST
#define RESIDENT_KEYS_MOST 8
#endif
#ifndef RESIDENT_KEYS_ALONE
#define RESIDENT_KEYS_ALONE 8
#endif
/* Blocks of a cluster: more than 8 have to be asked for, and not each GPU grants them. */
#define CLUSTER_MOST     16
#define CLUSTER_PORTABLE 8
/* One block takes up to this many keys where clusters exist; above that, a cluster. */
#ifndef RESIDENT_ALONE_MAX
#define RESIDENT_ALONE_MAX 2048
#endif
/* What a resident sort of n keys is divided into. blocks 0: n is too large for it. */
struct resident_shape {
    unsigned blocks, keys; /* blocks of the cluster, keys a thread */
};

/* `most` blocks may form a cluster; 1: there are no clusters. Blocks are added before keys, as the
 * time is that of the keys of one block. */
static inline struct resident_shape resident_shape(size_t n, unsigned most)
{
    struct resident_shape s = {1, 1};
    if (n > RESIDENT_MAX) return (struct resident_shape){0, 0};
    if (n <= RESIDENT_ALONE_MAX) most = 1;
    unsigned keys = most == 1 ? RESIDENT_KEYS_ALONE : RESIDENT_KEYS_MOST;
    while ((size_t)s.blocks * s.keys * RESIDENT_THREADS < n && s.blocks < most) s.blocks *= 2;
    while ((size_t)s.blocks * s.keys * RESIDENT_THREADS < n && s.keys < keys) s.keys *= 2;
    if ((size_t)s.blocks * s.keys * RESIDENT_THREADS < n) s.blocks = 0;
    return s;
}

#endif
