/*
 * span.cuh — a tile of scan_wave or scan_rows between device memory and registers, and what its
 * segments have before them.
 *
 * A block has as many warps as its tile has segments. The places of these segments, for R rows
 * each, may be more than the tile has elements: a tile of scan_rows begins anywhere, and the places
 * begin with a cache line. In a reverse scan the places are mirrored.
 */
#ifndef STEP16_SPAN_CUH
#define STEP16_SPAN_CUH

#include "arrays.cuh"

/* The places of a tile: the first one is element `at` of the array. The tile has those from `from`
 * to before `to`. The first element of the scan is in place `first`, or elsewhere: -1. */
struct span {
    size_t at;
    int from, to, first;
};

template <typename Op> static __device__ struct span span_of(const job<Op> &j, unsigned tile)
{
    struct span s;
    size_t begin = (j.reverse ? j.tiles - 1 - tile : tile) * j.tile, left = j.n - begin;
    s.from = (int)(begin % LINE_TAKES(WIDEST<Op>));
    s.at = begin - s.from;
    s.to = s.from + (int)(left < j.tile ? left : j.tile);
    s.first = tile > 0 ? -1 : j.reverse ? s.to - 1 : 0;
    return s;
}

/* Where a lane finds its vector of row r. */
template <int R, int V> static __device__ int place_of(bool reverse, int segment, int r)
{
    int vector = (segment * R + r) * LANES + threadIdx.x % LANES;
    return (reverse ? (int)blockDim.x * R - 1 - vector : vector) * V;
}

/* Has the tile an element in every place of the segment? */
template <int R, int V> static __device__ bool is_inside(bool reverse, struct span s, int segment)
{
    int number = reverse ? (int)(blockDim.x / LANES) - 1 - segment : segment;
    int begin = number * R * LANES * V;
    return s.from <= begin && begin + R * LANES * V <= s.to;
}

/* How far a lane's vector of the next row is. */
template <int V> static __device__ int row_step(bool reverse)
{
    return reverse ? -LANES * V : LANES * V;
}

template <int V> static __device__ bool is_whole(struct span s, int at)
{
    return s.from <= at && at + V <= s.to;
}

/* Loads, one by one, the elements that are in V places. */
template <typename T, int V>
static __device__ void take_singles(T (&x)[V], const T *from, struct span s, int at)
{
#pragma unroll
    for (int k = 0; k < V; k++)
        if (s.from <= at + k && at + k < s.to) x[k] = from[k];
}

template <int V>
static __device__ void take_singles(no_input (&)[V], const no_input *, struct span, int)
{
}

/* The elements of a segment, without their states. */
template <typename Op, int R, int V> struct fetched {
    typename Op::In a[R][V];
    typename Op::In2 b[R][V];
};

/* The usual segment is `whole`: inside the tile, and all arrays are aligned. Otherwise all whole
 * vectors are under way before the first single element is asked for. */
template <typename Op, int R, int V>
static __device__ void fetch_segment(const job<Op> &j, fetched<Op, R, V> &f, struct span s,
                                     int segment, bool whole)
{
    int first = place_of<R, V>(j.reverse, segment, 0), step = row_step<V>(j.reverse);
    const typename Op::In *in = j.in + s.at + first;
    const typename Op::In2 *in2 = j.in2 + s.at + first;
    if (whole) {
#pragma unroll
        for (int r = 0; r < R; r++, in += step, in2 += step) take(f.a[r], in), take(f.b[r], in2);
        return;
    }
    f = {};
#pragma unroll
    for (int r = 0; r < R; r++)
        if (j.aligned && is_whole<V>(s, first + r * step))
            take(f.a[r], in + r * step), take(f.b[r], in2 + r * step);
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (j.aligned && is_whole<V>(s, first + r * step)) continue;
        take_singles(f.a[r], in + r * step, s, first + r * step);
        take_singles(f.b[r], in2 + r * step, s, first + r * step);
    }
}

/* The states of a segment. Returns its heads. What is not in the tile is the identity and no head;
 * the first element of the scan is a head. */
template <bool HEADED, typename Op, int R, int V>
static __device__ unsigned enter_segment(const job<Op> &j, const fetched<Op, R, V> &f,
                                         typename Op::State (&x)[R][V], unsigned heads,
                                         struct span s, int segment, bool inside)
{
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int k = 0; k < V; k++)
            x[r][k] =
                state_of(j.op, mirrored(j.reverse, f.a[r], k), mirrored(j.reverse, f.b[r], k),
                         s.at + place_of<R, V>(j.reverse, segment, r) + in_memory<V>(j.reverse, k));
    if (inside && (!HEADED || s.first < 0)) return heads;
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int k = 0; k < V; k++) {
            int at = place_of<R, V>(j.reverse, segment, r) + in_memory<V>(j.reverse, k);
            unsigned bit = 1u << (r * V + k);
            if (at < s.from || at >= s.to) x[r][k] = j.op.identity(), heads &= ~bit;
            if (HEADED && at == s.first) heads |= bit;
        }
    return heads;
}

/* The sum of a scanned segment, in its last lane: what its last element would have. */
template <bool HEADED, typename Op, int R, int V>
static __device__ headed<typename Op::State> last_of(const Op &op, typename Op::State (&x)[R][V],
                                                     unsigned heads,
                                                     rows_before<typename Op::State, R> &before)
{
    bool head = HEADED && (!(before.open >> (R - 1) & 1) || heads >> ((R - 1) * V));
    return {element_of<HEADED>(op, x, heads, before.sum[R - 1], true, R - 1, V - 1), head};
}

/* Writes to `before` what is before each of the block's segments within the tile. Returns the sum
 * of the tile. A warp calls it when the sums of all segments are there. */
template <bool HEADED, typename Op>
static __device__ headed<typename Op::State> segments_scan(const Op &op,
                                                           const headed<typename Op::State> *sums,
                                                           headed<typename Op::State> *before)
{
    int lane = threadIdx.x % LANES, segments = blockDim.x / LANES;
    bool mine = lane < segments;
    auto x = mine ? sums[lane].value : op.identity();
    unsigned lanes = HEADED ? __ballot_sync(ALL_LANES, mine && sums[lane].head) : 0;
    int reach = reach_of(lanes);
#pragma unroll 1
    for (int d = 1; d < segments; d *= 2) { // few segments need few sweeps
        auto left = from_left(x, d);
        if (d <= reach) x = op.combine(left, x);
    }
    auto left = from_left(x, 1);
    if (mine) before[lane] = {left, (lanes & bits_below(lane)) != 0};
    return {from_lane(x, segments - 1), lanes != 0};
}

/* What is before a segment: `before` of its tile, and `prefix` of the tiles before. */
template <typename Op>
static __device__ typename Op::State
base_of(const Op &op, int segment, headed<typename Op::State> before, typename Op::State prefix)
{
    if (segment == 0) return prefix;
    return before.head ? before.value : op.combine(prefix, before.value);
}

/* Stores a scanned segment. `base`: as in store_segment of arrays.cuh. */
template <bool HEADED, typename Op, int R, int V>
static __device__ void store_places(const job<Op> &j, struct span s, int segment,
                                    typename Op::State (&own)[R][V], typename Op::State (&x)[R][V],
                                    unsigned heads, rows_before<typename Op::State, R> &before,
                                    typename Op::State base, bool whole)
{
    int at = place_of<R, V>(j.reverse, segment, 0), step = row_step<V>(j.reverse);
    auto to = j.out + (s.at + at);
#pragma unroll
    for (int r = 0; r < R; r++, at += step, to += step) {
        typename Op::Out z[V];
        results_of<HEADED>(j.reverse, j, z, own, x, heads, before, base, r);
        if (whole || (j.aligned && is_whole<V>(s, at))) {
            put(to, z);
        } else {
#pragma unroll
            for (int k = 0; k < V; k++)
                if (s.from <= at + k && at + k < s.to) put_one(to + k, z[k]);
        }
    }
}

#endif
