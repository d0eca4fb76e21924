/*
 * select_wave.cuh — the kernel for small and mid-sized n: a block for each tile, all of them at
 * once.
 *
 * Same as step 12's scan_wave except: each element counts 1 if it is kept, otherwise 0. Only kept
 * elements are stored, each at the place that is the number of kept elements before it.
 */
#ifndef STEP13_SELECT_WAVE_CUH
#define STEP13_SELECT_WAVE_CUH

#include "steps/12-pipeline/parts/barrier.cuh"
#include "steps/12-pipeline/wave.cuh"
#include "parts/keep.cuh"
#include "parts/segment.cuh"

/* A block of WARPS warps takes a tile of ITEMS elements a thread. The block of the last tile also
 * writes how many elements are kept in all. */
template <int WARPS, int ITEMS, typename T, typename Keep>
static __global__ void __launch_bounds__(WARPS *LANES)
    select_wave(typename stored<T, Keep>::type *out, uint64_t *kept, const T *in, size_t n,
                unsigned tiles, bool aligned, Keep keep, struct workspace *w)
{
    typedef stored<T, Keep> Stored;
    const unsigned SEGMENT = ITEMS * LANES, TILE_ELEMENTS = WARPS * SEGMENT;
    __shared__ struct ticket drawn;
    __shared__ unsigned counts[WARPS];
    int segment = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    state<unsigned> *states = states_of<unsigned>(w);
    T x[ITEMS];
    unsigned votes[ITEMS];

    // Draw a ticket; another warp meanwhile begins to fetch.
    if (threadIdx.x == 0) drawn = draw_ticket(w);
    if (aligned && threadIdx.x == LANES) {
        size_t begin = (size_t)blockIdx.x * TILE_ELEMENTS;
        fetch_ahead(in + begin, left_of(begin, n, TILE_ELEMENTS) * sizeof(T));
    }
    __syncthreads(); // no thread may read the ticket before it is drawn
    struct ticket t = drawn;
    if (threadIdx.x == 0) end_if_last(w, t, tiles);

    // Fetch, vote, and count.
    size_t begin = (size_t)t.tile * TILE_ELEMENTS + segment * SEGMENT;
    unsigned left = left_of(begin, n, SEGMENT);
    fetch(x, in + begin, left);
    unsigned count = vote(votes, x, begin, left, keep);
    if (lane == 0) counts[segment] = count;
    __syncthreads(); // no warp may read the segments' counts before all are there
    unsigned all = warp_scan<WARPS>(lane < WARPS ? counts[lane] : 0u);
    unsigned before = segment == 0 ? 0 : __shfl_sync(ALL_LANES, all, segment - 1);

    // Publish the tile's count, add up those before it, and store.
    if (threadIdx.x == WARPS - 1) write_state(&states[t.tile], t.epoch, all);
    uint64_t prefix = sum_before<WARPS>(states, t);
    if (t.tile == tiles - 1 && threadIdx.x == WARPS - 1) *kept = prefix + all;
    store_kept(Stored::first(out, keep) + prefix + before, Stored::of(x, begin + lane), votes);
}

/* ---- select_list ----------------------------------------------------------------------------- */

/* The kernel for mid-sized n that select_wave is too slow for: a block for each tile, nearly all of
 * them at once. Same as select_wave except: a lane takes vectors, and the block puts the kept
 * elements of its tile together in shared memory (segment.cuh), while the counts of other tiles are
 * in flight. So it stores whole lines of the cache. What is still bad: `in` that is not aligned to
 * 16 bytes is loaded element by element, by lanes that do not take neighbours. */

#define LIST_WARPS    8
#define LIST_SEGMENTS 2 /* of a warp */
#define LIST_BLOCKS   4 /* on a multiprocessor, at least */

/* Elements of a tile: 32 KiB of any type. */
template <typename T> constexpr unsigned LIST_OF = LIST_WARPS *LIST_SEGMENTS *SEGMENT_OF<T>;

/* The block of the last tile also writes how many elements are kept in all. */
template <typename T, typename Keep>
static __global__ void __launch_bounds__(LIST_WARPS *LANES, LIST_BLOCKS)
    select_list(typename stored<T, Keep>::type *out, uint64_t *kept, const T *in, size_t n,
                unsigned tiles, bool aligned, Keep keep, struct workspace *w)
{
    typedef stored<T, Keep> Stored;
    __shared__ typename Stored::held list[LIST_OF<T>];
    __shared__ struct ticket drawn;
    __shared__ unsigned counts[LIST_WARPS];
    int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    state<unsigned> *states = states_of<unsigned>(w);
    picked<T> x[LIST_SEGMENTS];
    struct places places[LIST_SEGMENTS];
    unsigned left[LIST_SEGMENTS], count = 0;

    if (threadIdx.x == 0) drawn = draw_ticket(w);
    __syncthreads(); // no thread may read the ticket before it is drawn
    struct ticket t = drawn;
    if (threadIdx.x == 0) end_if_last(w, t, tiles);

    // Fetch, find out what is kept, and count.
    size_t begin = (size_t)t.tile * LIST_OF<T> + warp * LIST_SEGMENTS * SEGMENT_OF<T>;
#pragma unroll
    for (int s = 0; s < LIST_SEGMENTS; s++) {
        size_t segment = begin + s * SEGMENT_OF<T>;
        left[s] = left_of(segment, n, SEGMENT_OF<T>);
        load_segment(x[s], in + segment, left[s], aligned);
    }
#pragma unroll
    for (int s = 0; s < LIST_SEGMENTS; s++) {
        pick(x[s], begin + s * SEGMENT_OF<T>, left[s], keep);
        places[s] = find_places(x[s].kept);
        count += places[s].count;
    }
    if (lane == 0) counts[warp] = count;
    __syncthreads(); // no warp may read the warps' counts before all are there
    unsigned all = warp_scan<LIST_WARPS>(lane < LIST_WARPS ? counts[lane] : 0u);
    unsigned before = warp == 0 ? 0 : __shfl_sync(ALL_LANES, all, warp - 1);
    unsigned total = __shfl_sync(ALL_LANES, all, LIST_WARPS - 1);

    // Publish the tile's count, and put its elements together.
    if (threadIdx.x == 0) write_state(&states[t.tile], t.epoch, total);
#pragma unroll
    for (int s = 0; s < LIST_SEGMENTS; s++) {
        put_together<Stored>(list + before, x[s], places[s],
                             (warp * LIST_SEGMENTS + s) * SEGMENT_OF<T>);
        before += places[s].count;
    }

    // No thread leaves sum_before until all have come to it: then the list is complete.
    uint64_t prefix = sum_before<LIST_WARPS>(states, t);
    if (t.tile == tiles - 1 && threadIdx.x == 0) *kept = prefix + total;
    store_list<Stored>(Stored::first(out, keep) + prefix, list, total, (size_t)t.tile * LIST_OF<T>,
                       threadIdx.x, LIST_WARPS * LANES);
}

#endif
