/*
 * segment.cuh — what one warp does with one segment: it counts the elements that are kept, and
 * stores them one behind the other.
 *
 * A segment is ITEMS rows of 32 elements. Lane l has element l of each row. The vote of a warp
 * (ballot) says in one word which elements of a row are kept; the bits below a lane's own are the
 * kept elements before it, and popc counts them. So one vote scans a row.
 */
#ifndef STEP13_SEGMENT_CUH
#define STEP13_SEGMENT_CUH

#include "steps/12-pipeline/parts/segment.cuh"
#include "steps/12-pipeline/parts/states.cuh"

/* Counts of elements are carried from tile to tile in 64 bits. */
template <> struct carry_of<unsigned> {
    typedef uint64_t type;
};

/* Which elements of each row are kept: a bit a lane. Elements from `left` on do not exist. Returns
 * how many are kept. `begin` is the index of the segment's first element. */
template <int ITEMS, typename Keep, typename T>
static __device__ unsigned vote(unsigned (&kept)[ITEMS], const T (&x)[ITEMS], size_t begin,
                                unsigned left, const Keep &keep)
{
    unsigned count = 0;
    if (left == ITEMS * LANES) { // asked once, not in each row
#pragma unroll
        for (int k = 0; k < ITEMS; k++)
            kept[k] = __ballot_sync(ALL_LANES, keep(x[k], begin + k * LANES + threadIdx.x % LANES));
    } else {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            unsigned i = k * LANES + threadIdx.x % LANES;
            kept[k] = __ballot_sync(ALL_LANES, i < left && keep(x[k], begin + i));
        }
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) count += __popc(kept[k]);
    return count;
}

/* Stores the kept elements of all rows, one row behind the other, from `to` on. */
template <int ITEMS, typename Out, typename Rows>
static __device__ void store_kept(Out *to, const Rows &x, const unsigned (&kept)[ITEMS])
{
    unsigned own = 1u << threadIdx.x % LANES, lanes_before = own - 1, at = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        if (kept[k] & own) to[at + __popc(kept[k] & lanes_before)] = x[k];
        at += __popc(kept[k]);
    }
}

/* Loads a segment. Elements from `left` on do not exist and become 0. */
template <int ITEMS, typename T>
static __device__ void fetch(T (&x)[ITEMS], const T *in, unsigned left)
{
    unsigned lane = threadIdx.x % LANES;
    if (left == ITEMS * LANES) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) x[k] = in[k * LANES + lane];
    } else {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) x[k] = k * LANES + lane < left ? in[k * LANES + lane] : T();
    }
}

/* How many of the SEGMENT elements from index `begin` on exist. */
static __device__ unsigned left_of(size_t begin, size_t n, unsigned segment)
{
    size_t left = begin < n ? n - begin : 0;
    return left < segment ? (unsigned)left : segment;
}

#endif
