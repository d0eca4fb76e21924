/*
 * direct.cuh — the kernel for large n where bulk copies cannot be had: before Hopper, and for
 * arrays that are not aligned to 16 bytes.
 *
 * Same as step 12's scan_direct except: a tile comes from up to three arrays; sums keep the order
 * of the elements; heads end sequences; and a reverse scan mirrors the array (shape.h). It combines
 * in the order of the engine's scan_pipeline: the result is bitwise identical. The direction and
 * the kind of heads are variables here, not parameters of the template: one kernel serves for all.
 */
#ifndef STEP16_DIRECT_CUH
#define STEP16_DIRECT_CUH

#include "common/tools/library/scan/arrays.cuh"
#include "common/tools/library/scan/near.cuh" // its functions have to be known at their calls
#include "prefix.cuh"

#define DIRECT_THREADS (SEGMENTS * LANES)

/* The bits of V elements from i on in memory, and from `at` on in their tile. H(0) and H(n) are
 * for the caller. */
template <int V, typename Op>
static __device__ unsigned fetched_bits(const job<Op> &j, unsigned first_head, size_t i, int at)
{
    unsigned bits = 0;
    if (j.kind == ROWS) return one_head<V>(first_head, at + j.reverse); // of long rows
#pragma unroll
    for (int k = 0; k < V; k++) {
        size_t asked = i + k + j.reverse;
        if (asked > 0 && asked < j.n) bits |= is_head(j.kind, j.heads, asked) << k;
    }
    return bits;
}

template <typename T, int V>
static __device__ void fetch(T (&x)[V], const T *in, size_t i, size_t n, bool whole)
{
    if (whole) {
        take(x, in + i);
    } else {
#pragma unroll
        for (int k = 0; k < V; k++)
            if (i + k < n) x[k] = in[i + k];
    }
}

template <int V>
static __device__ void fetch(no_input (&)[V], const no_input *, size_t, size_t, bool)
{
}

/* A segment from device memory. Returns its heads. */
template <bool HEADED, typename Op, int R, int V>
static __device__ unsigned fetch_segment(const job<Op> &j, typename Op::State (&x)[R][V],
                                         unsigned first_head, size_t begin, int segment)
{
    bool whole = j.aligned && begin + TILE_WITH(R, 16 / V) <= j.n;
    typename Op::In a[R][V] = {};
    typename Op::In2 b[R][V] = {};
    unsigned heads = 0;
#pragma unroll
    for (int r = 0; r < R; r++) {
        int at = vector_at<R, V>(j.reverse, segment, r);
        fetch(a[r], j.in, begin + at, j.n, whole);
        fetch(b[r], j.in2, begin + at, j.n, whole);
        unsigned bits = HEADED ? fetched_bits<V>(j, first_head, begin + at, at) : 0;
        heads |= in_order<V>(j.reverse, bits) << (r * V);
    }
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int k = 0; k < V; k++)
            x[r][k] = state_of(j.op, mirrored(j.reverse, a[r], k), mirrored(j.reverse, b[r], k),
                               begin + vector_at<R, V>(j.reverse, segment, r) +
                                   in_memory<V>(j.reverse, k));
    // The first element of the scan, and what lies outside of the array, are in the first or last
    // tile.
    if (begin == 0 || begin + TILE_WITH(R, 16 / V) >= j.n)
        heads = at_edges(j.reverse, j, x, heads, begin, segment);
    return heads;
}

/* Needs DIRECT_THREADS threads per block. Works with any number of blocks. */
template <bool HEADED, typename Op>
static __global__ void __launch_bounds__(DIRECT_THREADS, 2)
    scan_direct(const __grid_constant__ job<Op> j)
{
    typedef typename Op::State State;
    const int R = MANY_ROWS, V = LANE_TAKES(WIDEST<Op>);
    __shared__ struct ticket drawn;
    __shared__ unsigned first_head; // ROWS
    __shared__ State sums[SEGMENTS], prefix;
    __shared__ bool segment_heads[SEGMENTS];
    int segment = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    published<State> *states = published_of<State>(j.workspace);
    struct progress<State> progress = {
        {HEADED ? j.op.identity() : j.initial, false}, 0
    };
    bool once = gridDim.x == j.tiles; // each block scans one tile

    do {
        if (threadIdx.x == 0) {
            drawn = draw_ticket(j.workspace);
            if (once) end_if_last(j.workspace, drawn, j.tiles);
            if (j.kind == ROWS && drawn.tile < j.tiles)
                first_head = head_from(begin_of<R>(j.reverse, j, drawn.tile), j.row);
        }
        __syncthreads(); // no thread may read the ticket before it is drawn
        struct ticket t = drawn;
        if (t.tile >= j.tiles) {
            // Every block draws until it gets a ticket without a tile.
            if (threadIdx.x == 0) end_if_last(j.workspace, t, j.tiles + gridDim.x);
            return;
        }
        size_t begin = begin_of<R>(j.reverse, j, t.tile);
        State own[R][V], x[R][V];
        rows_before<State, R> before;

        // Fetch, and find the sums of the segments.
        unsigned heads = fetch_segment<HEADED>(j, own, first_head, begin, segment);
        memcpy(x, own, sizeof x);
        bool head = HEADED && drop_before_last_head(j.op, x, heads);
        State sum = segment_sum(j.op, x);
        if (lane == 0) sums[segment] = sum, segment_heads[segment] = head;
        __syncthreads(); // no warp may read the segments' sums before all are there
        bool mine = lane < SEGMENTS;
        unsigned lanes = HEADED ? __ballot_sync(ALL_LANES, mine && segment_heads[lane]) : 0;
        State all = warp_scan(j.op, mine ? sums[lane] : j.op.identity(), reach_of(lanes));

        // Publish the tile's sum, and scan while the sums of other tiles are on their way. Then
        // warp 0 finds the prefix.
        if (threadIdx.x == SEGMENTS - 1) publish(&states[t.tile], t.epoch, {all, lanes != 0});
        memcpy(x, own, sizeof x);
        segment_scan<HEADED>(j.op, x, heads, before);
        if (segment == 0) {
            auto found = prefix_of(j.op, states, t.tile, t.epoch, &progress);
            if (lane == 0) prefix = found.value;
        }
        State within = from_lane(all, segment == 0 ? 0 : segment - 1);
        __syncthreads(); // no warp may read the prefix before warp 0 has found it
        State base = segment == 0 ? prefix : j.op.combine(prefix, within);
        if (HEADED && lanes & bits_below(segment)) base = within;
        store_segment<HEADED>(j.reverse, j, begin, segment, own, x, heads, before, base);
    } while (!once);
}

#endif
