/*
 * heads.cuh — where sequences begin. A sequence is a part of the array that is scanned by itself.
 *
 * The first element of a sequence is its head. Heads are given in one of four ways, or there is one
 * sequence only. In a reverse scan the head of a sequence is its last element: that is the one
 * before the head of the next sequence. So with H(i) as below, element i is a head if H(i), and in
 * a reverse scan if H(i + 1).
 *   ROWS   H(i) if i is a multiple of the length of a row;
 *   BYTES  H(i) if byte i is not 0;
 *   BITS   H(i) if bit i is 1: bit i % 32 of word i / 32;
 *   KEYS   H(i) if key i is not equal to key i - 1.
 * Always H(0) and H(n).
 */
#ifndef STEP16_HEADS_CUH
#define STEP16_HEADS_CUH

#include "shape.h"

#include <stdint.h>

enum heads { NO_HEADS, ROWS, BYTES, BITS, KEYS };

/* The type of an element of the array that gives the heads. A word of bits holds those of
 * HEADS_PER(heads) elements. */
template <enum heads HEADS> struct head_array {
    typedef uint32_t type;
};
template <> struct head_array<BYTES> {
    typedef uint8_t type;
};
template <> struct head_array<KEYS> {
    typedef int32_t type;
};
#define HEADS_PER(heads)  ((heads) == BITS ? 32 : 1)
#define HEADS_READ(heads) ((heads) == BYTES || (heads) == BITS || (heads) == KEYS)

/* H(i) for 0 < i < n, from an array of heads. */
static __host__ __device__ inline bool is_head(enum heads kind, const void *heads, size_t i)
{
    if (kind == BYTES) return ((const uint8_t *)heads)[i] != 0;
    if (kind == BITS) return ((const uint32_t *)heads)[i / 32] >> i % 32 & 1;
    return ((const int32_t *)heads)[i] != ((const int32_t *)heads)[i - 1]; // KEYS
}

/* How far the first head of rows of `length` elements is from element `begin`; at most a distance
 * that is beyond every tile. */
static __host__ __device__ inline unsigned head_from(size_t begin, size_t length)
{
    const size_t FAR = (size_t)1 << 15;
    size_t first = (length - begin % length) % length;
    return (unsigned)(first < FAR ? first : FAR - 1);
}

/* H of the V elements from `at` on, in bits 0 to V - 1. At most one of them is a head: the one at
 * `first`. */
template <int V> static __device__ unsigned one_head(unsigned first, unsigned at)
{
    unsigned next = first - at;
    return next < V ? 1u << next : 0;
}

/* Where the heads of short rows lie in a tile: at `first`, and from there on at each multiple of
 * `length`. */
struct row_heads {
    unsigned first, length;
    unsigned reciprocal; /* 2^32 / length, rounded up; of 1, which would have more bits, 0 */
};

static inline struct row_heads row_heads_of(size_t length)
{
    struct row_heads rows = {0, (unsigned)length, 0};
    rows.reciprocal = (unsigned)((((uint64_t)1 << 32) + length - 1) / length);
    return rows;
}

/* H of the V elements from `at` on. `at` is counted from the begin of the tile, and below 2^14 as
 * the length is, so the quotient by way of the reciprocal is exact. SHORT: rows may be shorter than
 * a vector. */
template <bool SHORT, int V> static __device__ unsigned row_bits(struct row_heads rows, unsigned at)
{
    unsigned from = at + rows.length - rows.first; // a head
    unsigned whole = SHORT && rows.length == 1 ? from : __umulhi(from, rows.reciprocal);
    unsigned behind = from - rows.length * whole, next = behind == 0 ? 0 : rows.length - behind;
    unsigned bits = next < V ? 1u << next : 0;
#pragma unroll
    for (int k = 0; SHORT && k < V; k++)
        if (k % rows.length == next) bits |= 1u << k;
    return bits;
}

#endif
