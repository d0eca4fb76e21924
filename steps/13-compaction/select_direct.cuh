/*
 * select_direct.cuh — the kernel for large n where bulk copies cannot be had: on GPUs before
 * Hopper, and for arrays that are not aligned to 16 bytes.
 *
 * Same as step 12's scan_direct except: votes are counted, and only kept elements are stored.
 */
#ifndef STEP13_SELECT_DIRECT_CUH
#define STEP13_SELECT_DIRECT_CUH

#include "parts/keep.cuh"
#include "parts/segment.cuh"
#include "steps/12-pipeline/parts/prefix.cuh"

#define DIRECT_WARPS  8
#define DIRECT_ITEMS  16
#define DIRECT_BLOCKS 4 /* on a multiprocessor, at least */
#define DIRECT_TILE   (DIRECT_WARPS * DIRECT_ITEMS * LANES)

template <typename T, typename Keep>
static __global__ void __launch_bounds__(DIRECT_WARPS *LANES, DIRECT_BLOCKS)
    select_direct(typename stored<T, Keep>::type *out, uint64_t *kept, const T *in, size_t n,
                  unsigned tiles, Keep keep, struct workspace *w)
{
    typedef stored<T, Keep> Stored;
    const unsigned SEGMENT = DIRECT_ITEMS * LANES;
    __shared__ struct ticket drawn;
    __shared__ unsigned counts[DIRECT_WARPS];
    __shared__ uint64_t prefix;
    int segment = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    state<unsigned> *states = states_of<unsigned>(w);
    struct progress<unsigned> progress = progress_start<unsigned>(); // of warp 0

    while (true) {
        if (threadIdx.x == 0) drawn = draw_ticket(w);
        __syncthreads(); // no thread may read the ticket before it is drawn
        struct ticket t = drawn;
        if (t.tile >= tiles) {
            // Every block draws until it gets a ticket without a tile.
            if (threadIdx.x == 0) end_if_last(w, t, tiles + gridDim.x);
            return;
        }
        size_t begin = (size_t)t.tile * DIRECT_TILE + segment * SEGMENT;
        unsigned left = left_of(begin, n, SEGMENT), votes[DIRECT_ITEMS];
        T x[DIRECT_ITEMS];

        // Fetch, vote, and count.
        fetch(x, in + begin, left);
        unsigned count = vote(votes, x, begin, left, keep);
        if (lane == 0) counts[segment] = count;
        __syncthreads(); // no warp may read the segments' counts before all are there
        unsigned all = warp_scan<DIRECT_WARPS>(lane < DIRECT_WARPS ? counts[lane] : 0u);
        unsigned before = segment == 0 ? 0 : __shfl_sync(ALL_LANES, all, segment - 1);

        // Warp 0 publishes the tile's count and finds how many are kept before the tile.
        if (segment == 0) {
            if (lane == DIRECT_WARPS - 1) write_state(&states[t.tile], t.epoch, all);
            __syncwarp();
            uint64_t found = prefix_of(states, t.tile, t.epoch, &progress);
            if (lane == DIRECT_WARPS - 1) {
                prefix = found;
                if (t.tile == tiles - 1) *kept = found + all;
            }
        }
        __syncthreads(); // no warp may read the prefix before warp 0 has found it
        store_kept(Stored::first(out, keep) + prefix + before, Stored::of(x, begin + lane), votes);
    }
}

#endif
