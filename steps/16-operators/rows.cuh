/*
 * rows.cuh — the kernel for short rows of an array. A tile has whole rows, so it needs nothing of
 * other tiles.
 *
 * Same as wave.cuh except: no ticket, no states, no prefix, and heads that follow from the place.
 * What is left is a copy with a scan between the load and the store.
 * What is still bad: all warps of a block wait for the last of them before any of them stores, and
 * longer rows have larger blocks.
 */
#ifndef STEP16_ROWS_CUH
#define STEP16_ROWS_CUH

#include "parts/span.cuh"

#define ROWS_THREADS (APART_MOST * LANES)

/* The heads of a segment. */
template <bool SHORT, int R, int V>
static __device__ unsigned heads_of_rows(bool reverse, struct row_heads rows, int segment)
{
    unsigned heads = 0;
#pragma unroll
    for (int r = 0; r < R; r++) {
        unsigned bits = row_bits<SHORT, V>(rows, place_of<R, V>(reverse, segment, r) + reverse);
        heads |= in_order<V>(reverse, bits) << (r * V);
    }
    return heads;
}

/* Needs a block for each tile, with a warp for each of its segments. */
template <typename Op>
static __global__ void __launch_bounds__(ROWS_THREADS, 1)
    scan_rows(const __grid_constant__ job<Op> j)
{
    typedef typename Op::State State;
    const int R = APART_ROWS, V = LANE_TAKES(WIDEST<Op>);
    __shared__ headed<State> sums[APART_MOST], parts[APART_MOST];
    int segment = threadIdx.x / LANES;
    struct span s = span_of(j, blockIdx.x);
    bool inside = is_inside<R, V>(j.reverse, s, segment), whole = inside && j.aligned;
    struct row_heads rows = j.rows;
    fetched<Op, R, V> f;
    State own[R][V], x[R][V];
    rows_before<State, R> before;

    fetch_segment(j, f, s, segment, whole);
    rows.first = s.from;
    bool is_short = rows.length < V || rows.length == 1;
    unsigned heads = is_short ? heads_of_rows<true, R, V>(j.reverse, rows, segment)
                              : heads_of_rows<false, R, V>(j.reverse, rows, segment);
    heads = enter_segment<true>(j, f, own, heads, s, segment, inside);
    memcpy(x, own, sizeof x);
    segment_scan<true>(j.op, x, heads, before);
    auto sum = last_of<true>(j.op, x, heads, before);
    if (threadIdx.x % LANES == LANES - 1) sums[segment] = sum;
    __syncthreads(); // no warp may read the segments' sums before all are there
    if (segment == 0) segments_scan<true>(j.op, sums, parts);
    __syncthreads(); // no warp may read what is before its segment before it is there
    State base = base_of(j.op, segment, parts[segment], j.op.identity());
    store_places<true>(j, s, segment, own, x, heads, before, base, whole);
}

#endif
