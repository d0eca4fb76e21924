/*
 * direct.cuh — the kernel for large n where bulk copies cannot be had: on GPUs before Hopper, and
 * for arrays that are not aligned to 16 bytes.
 *
 * Step 11's form: a block draws a ticket, fetches its tile into registers, publishes its sum, finds
 * its prefix and stores. But the block then draws another ticket, so that it can go on from its
 * last prefix; and the prefix is that of prefix.cuh, bitwise identical to scan_pipeline's.
 */
#ifndef STEP12_DIRECT_CUH
#define STEP12_DIRECT_CUH

#include "parts/segment.cuh"
#include "parts/prefix.cuh"

#define DIRECT_THREADS (TILE_SEGMENTS * LANES)
/* The least number of blocks on a multiprocessor: while one block waits, the others work. Sums of 8
 * bytes take twice the registers, and more blocks would make them spill. */
#define DIRECT_BLOCKS(sum_bytes) ((sum_bytes) == 8 ? 2 : 4)

template <bool ALIGNED, bool INCLUSIVE, typename In, typename Sum>
static __global__ void __launch_bounds__(DIRECT_THREADS, DIRECT_BLOCKS(sizeof(Sum)))
    scan_direct(Sum *out, const In *in, size_t n, unsigned tiles, struct workspace *w)
{
    __shared__ struct ticket drawn;
    __shared__ Sum sums[TILE_SEGMENTS];
    __shared__ typename carry_of<Sum>::type prefix;
    int segment = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    state<Sum> *states = states_of<Sum>(w);
    struct progress<Sum> progress = progress_start<Sum>(); // of warp 0

    while (true) {
        if (threadIdx.x == 0) drawn = draw_ticket(w);
        __syncthreads(); // no thread may read the ticket before it is drawn
        struct ticket t = drawn;
        if (t.tile >= tiles) {
            // Every block draws until it gets a ticket without a tile.
            if (threadIdx.x == 0) end_if_last(w, t, tiles + gridDim.x);
            return;
        }
        size_t begin = ((size_t)t.tile * TILE_SEGMENTS + segment) * TILE_ROWS * ROW(sizeof(Sum));
        vector_of<In, Sum> x[TILE_ROWS];
        vector_of<Sum, Sum> y[TILE_ROWS];

        // Fetch, and add up the segments.
        fetch_segment(x, in, begin, n, ALIGNED);
        Sum sum = segment_sum<Sum>(x);
        if (lane == 0) sums[segment] = sum;
        __syncthreads(); // no warp may read the segments' sums before all are there
        Sum all = warp_scan(lane < TILE_SEGMENTS ? sums[lane] : (Sum)0);
        Sum before = segment == 0 ? 0 : __shfl_sync(ALL_LANES, all, segment - 1);

        // Warp 0 publishes the tile's sum and finds its prefix. The other warps scan meanwhile.
        if (segment == 0) {
            if (lane == TILE_SEGMENTS - 1) write_state(&states[t.tile], t.epoch, all);
            __syncwarp();
            prefix = prefix_of(states, t.tile, t.epoch, &progress);
        }
        segment_scan<INCLUSIVE>(x, y);
        __syncthreads(); // no warp may read the prefix before warp 0 has found it
        store_segment(out, begin, n, (Sum)(prefix + before), y, ALIGNED);
    }
}

#endif
