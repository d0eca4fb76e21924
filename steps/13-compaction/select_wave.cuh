/*
 * select_wave.cuh — the kernel for small and mid-sized n: a block for each tile, all of them at
 * once.
 *
 * Same as step 12's scan_wave except: each element counts 1 if it is kept, otherwise 0. Only kept
 * elements are stored, each at the place that is the number of kept elements before it.
 */
#ifndef STEP13_SELECT_WAVE_CUH
#define STEP13_SELECT_WAVE_CUH

#include "parts/keep.cuh"
#include "parts/segment.cuh"
#include "steps/12-pipeline/parts/fetch_ahead.cuh"
#include "steps/12-pipeline/wave.cuh"

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

#endif
