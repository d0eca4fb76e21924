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

/* Where the heads of rows lie in a tile: at `first`, and from there on at each multiple of
 * `length`. */
struct row_heads {
    unsigned first, length;
    uint64_t reciprocal; /* 2^32 / length, rounded up */
};

/* Rows of `length` elements, as a tile that begins at index `begin` sees them. Of rows that are
 * longer than a tile it sees one head at most, so their length may be cut. */
static __host__ __device__ inline struct row_heads row_heads_from(size_t begin, size_t length)
{
    const size_t FAR = (size_t)1 << 15; /* beyond every tile */
    size_t first = (length - begin % length) % length;
    struct row_heads rows;
    rows.first = (unsigned)(first < FAR ? first : FAR - 1);
    rows.length = (unsigned)(length < FAR ? length : FAR);
    rows.reciprocal = (((uint64_t)1 << 32) + rows.length - 1) / rows.length;
    return rows;
}

/* How long rows are, as the code for their heads asks. */
enum row_class { SHORTER_THAN_A_VECTOR, SHORTER_THAN_A_TILE, LONG };

/* The reciprocal of 1 has more than 32 bits, which the code for short rows takes. A vector of
 * elements of 16 bytes has one. */
static __device__ inline bool is_short(struct row_heads rows, unsigned vector)
{
    return rows.length < vector || rows.length == 1;
}

static __device__ inline enum row_class class_of(struct row_heads rows, unsigned vector,
                                                 unsigned tile)
{
    return is_short(rows, vector) ? SHORTER_THAN_A_VECTOR
           : rows.length < tile   ? SHORTER_THAN_A_TILE
                                  : LONG;
}

/* H of the V elements from `at` on, in bits 0 to V - 1. `at` is counted from the begin of the tile.
 * It is below 2^14 and the length at most 2^15, so the quotient by way of the reciprocal is
 * exact. */
template <int V, enum row_class CLASS>
static __device__ unsigned row_bits(struct row_heads rows, unsigned at)
{
    // How far the next head is. Of long rows there is one head at most.
    unsigned next = rows.first - at, bits;
    if (CLASS != LONG) {
        unsigned from = at + rows.length - rows.first; // a head
        from -= rows.length * (CLASS == SHORTER_THAN_A_VECTOR
                                   ? (unsigned)(from * rows.reciprocal >> 32)
                                   : __umulhi(from, (unsigned)rows.reciprocal));
        next = from == 0 ? 0 : rows.length - from;
    }
    bits = next < V ? 1u << next : 0;
#pragma unroll
    for (int k = 0; k < V; k++)
        if (CLASS == SHORTER_THAN_A_VECTOR && k % rows.length == next) bits |= 1u << k;
    return bits;
}

#endif
