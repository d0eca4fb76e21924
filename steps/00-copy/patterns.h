/*
 * patterns.h — the access patterns of step 0: their names, and what each must produce.
 */
#ifndef STEP00_PATTERNS_H
#define STEP00_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

/* A pattern's number is that of the variant. */
enum pattern {
    ALL, /* every one below, one after the other */
    SCALAR,
    FLOAT2,
    FLOAT4,
    STRIDED,
    MISALIGNED,
    PERMUTED,
    SCATTERED,
    SAME_WORD,
    STRUCTURES,
    STRUCTURES_SOA,
    STRUCTURES_READ_ONLY,
    STRUCTURES_STAGED,
    PATTERNS
};

#define THREADS 256 /* a block */
#define WARP    32  /* lanes */
#define STRIDE                                                                                     \
    32 /* floats from lane to lane in STRIDED: 128 bytes, so no two lanes share a sector */

/* 2^64 divided by the golden ratio: multiples of it, modulo 2^64, are spread evenly (Knuth, The Art
 * of Computer Programming, section 6.4). */
#define GOLDEN 0x9E3779B97F4A7C15u

/* A structure of a size that no single access has: 12 bytes. */
struct position {
    float x, y, z;
};

/* How many of them the STRUCTURES patterns see in n floats: a multiple of 8, so that the arrays of
 * STRUCTURES_SOA begin at a sector's boundary. The floats after them are copied as they are. */
static inline ON_BOTH size_t pattern_structures(size_t n) { return n / 3 / 8 * 8; }

/*
 * The index of the input element that a pattern copies to out[i]. All patterns but those named here
 * copy element i. The STRUCTURES turn each position's coordinates around, (x, y, z) to (y, z, x),
 * so that some thread has to hold all three.
 */
static inline ON_BOTH size_t pattern_source(enum pattern pattern, size_t i, size_t n)
{
    size_t rows = n / STRIDE; /* STRIDED reads the columns of a matrix that is stored by rows */
    size_t structures = pattern_structures(n);

    switch (pattern) {
    case STRIDED: return i < rows * STRIDE ? i % rows * STRIDE + i / rows : i;
    case MISALIGNED: return i + 1 < n ? i + 1 : 0;
    case PERMUTED: return (i ^ (WARP - 1)) < n ? i ^ (WARP - 1) : i; /* lanes in reverse */
    case SCATTERED: return (size_t)((unsigned __int128)(i * GOLDEN) * n >> 64);
    case SAME_WORD: return i / WARP * WARP;
    case STRUCTURES:
    case STRUCTURES_READ_ONLY:
    case STRUCTURES_STAGED:
        if (i >= 3 * structures) return i;
        return i % 3 < 2 ? i + 1 : i - 2;
    case STRUCTURES_SOA:
        if (i >= 3 * structures) return i;
        return i < 2 * structures ? i + structures : i - 2 * structures;
    default: return i;
    }
}

#endif
