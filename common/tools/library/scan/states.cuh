/*
 * states.cuh — what tiles publish: the sum of a tile, and whether a sequence begins in it.
 *
 * As step 12's states: each word carries 32 bits of the sum and the epoch of this scan, so a thread
 * that finds the epoch also finds the value. Epochs are even; the lowest bit is the head: 1 if a
 * sequence begins in the tile. Then the sum is that of the elements from the last head on.
 */
#ifndef STEP16_STATES_CUH
#define STEP16_STATES_CUH

#include "steps/12-pipeline/parts/states.cuh"
#include "shape.h"

#include <stdint.h>

/* ---- heads ----------------------------------------------------------------------------------- */

/*
 * Where sequences begin. A sequence is a part of the array that is scanned by itself.
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

/* ---- states ---------------------------------------------------------------------------------- */

/* A sum, and whether a sequence begins in what was summed up. */
template <typename State> struct headed {
    State value;
    bool head;
};

/* 4, 8 or 16 bytes. */
template <typename State> struct __align__(sizeof(State) * 2) published
{
    uint64_t word[WORDS(State)];
};

template <typename State> static __device__ published<State> *published_of(struct workspace *w)
{
    return (published<State> *)(w + 1);
}

template <typename State>
static __device__ void publish(published<State> *to, unsigned epoch, headed<State> sum)
{
    unsigned part[WORDS(State)];
    memcpy(part, &sum.value, sizeof(State));
#pragma unroll
    for (int i = 0; i < WORDS(State); i++)
        write_word(&to->word[i], (uint64_t)(epoch | sum.head) << 32 | part[i]);
}

/* Loads the words of a state, two with one access. They may have been written at different times:
 * each has its epoch. */
template <int WORDS>
static __device__ void load_words(uint64_t (&word)[WORDS], const uint64_t *from)
{
    if (WORDS == 1) word[0] = read_word(from);
#pragma unroll
    for (int i = 0; i + 1 < WORDS; i += 2) {
        uint64_t pair[2];
        read_words(pair, from + i);
        word[i] = pair[0], word[i + 1] = pair[1];
    }
}

/* Has every word this epoch? */
template <typename State> static __device__ bool is_of(const published<State> &p, unsigned epoch)
{
    bool all = true;
#pragma unroll
    for (int i = 0; i < WORDS(State); i++) all &= (unsigned)(p.word[i] >> 33) == epoch >> 1;
    return all;
}

template <typename State> static __device__ headed<State> sum_in(const published<State> &p)
{
    unsigned part[WORDS(State)];
    headed<State> sum;
#pragma unroll
    for (int i = 0; i < WORDS(State); i++) part[i] = (unsigned)p.word[i];
    memcpy(&sum.value, part, sizeof(State));
    sum.head = p.word[0] >> 32 & 1;
    return sum;
}

#endif
