/*
 * wave.cuh — the kernel for small and middling n: a block for each tile, all of them at once.
 *
 * Step 11's form, a ticket, a tile, its sum, its prefix; but no tile waits for a prefix: the
 * threads of a block ask for the sums of all tiles before it, one or two each, in one go. What is
 * left is a row of latencies, one after the other, and of these the ticket's and that of device
 * memory pass at the same time. A single tile waits for no other tile, so it needs no ticket.
 */
#ifndef STEP12_WAVE_CUH
#define STEP12_WAVE_CUH

#include "parts/memory.cuh"
#include "parts/segment.cuh"
#include "parts/states.cuh"

/* Prefetch only in grids of at most this many blocks: with more blocks, memory is busy anyway. */
#define WAVE_AHEAD_MOST 128

/* One lane prefetches into the L2 what a block will probably read, while the ticket is drawn. The
 * tile may be that of another block, which then finds it in the L2. Hopper and later. */
static __device__ void fetch_ahead(const void *from, size_t bytes)
{
#if __CUDA_ARCH__ >= 900
    unsigned whole = (unsigned)(bytes / 16 * 16);
    if (whole > 0)
        asm volatile(
            "cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)),
            "r"(whole)
            : "memory");
#else
    (void)from, (void)bytes;
#endif
}

/* The sum of the tiles before the ticket's, in every thread. Thread i of the first T adds up the
 * tiles i, i + T, i + 2T, …; then the lanes of a warp are added in a balanced tree, then the warps.
 * Waits for sums that are not published yet. T is 32 LOOKERS, for the first LOOKERS of WARPS
 * warps. */
template <int WARPS, int LOOKERS = WARPS, typename Sum>
static __device__ typename carry_of<Sum>::type sum_before(const state<Sum> *states, struct ticket t)
{
    typedef typename carry_of<Sum>::type Carry;
    __shared__ Carry warps[LOOKERS];
    int warp = threadIdx.x / LANES;
    bool looks = LOOKERS == WARPS || warp < LOOKERS;
    Carry sum = 0;

    for (unsigned i = threadIdx.x; looks && i < t.tile; i += LOOKERS * LANES) {
        state<Sum> found;
        do found = read_state(&states[i]);
        while (!is_of(found, t.epoch));
        sum += value_of(found);
    }
    __syncwarp(); // lanes leave the loop at different times
    if (looks && warp * LANES < t.tile) sum = warp_sum(sum);
    if (looks && threadIdx.x % LANES == 0) warps[warp] = sum;
    __syncthreads(); // no thread may read the warps' sums before all are there

    Carry all[LOOKERS];
#pragma unroll
    for (int i = 0; i < LOOKERS; i++) all[i] = warps[i];
    return tree_sum(all);
}

/* Scans n elements with `tiles` blocks of WARPS warps, each of which takes a segment of
 * ROWS rows. ALONE: there is one tile. */
template <int WARPS, int ROWS, bool ALONE, bool ALIGNED, bool INCLUSIVE, typename In, typename Sum>
static __global__ void __launch_bounds__(WARPS *LANES)
    scan_wave(Sum *out, const In *in, size_t n, unsigned tiles, struct workspace *w)
{
    const size_t SEGMENT = ROWS * ROW(sizeof(Sum)), TILE = WARPS * SEGMENT;
    __shared__ struct ticket drawn;
    __shared__ Sum sums[WARPS];
    int segment = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    state<Sum> *states = states_of<Sum>(w);
    vector_of<In, Sum> x[ROWS];
    vector_of<Sum, Sum> y[ROWS];

    // Draw a ticket. Meanwhile another warp begins to prefetch.
    struct ticket t = {0, 0};
    if (!ALONE) {
        if (threadIdx.x == 0) drawn = draw_ticket(w);
        if (ALIGNED && threadIdx.x == LANES && tiles <= WAVE_AHEAD_MOST) {
            size_t begin = blockIdx.x * TILE, count = n - begin < TILE ? n - begin : TILE;
            fetch_ahead(in + begin, count * sizeof(In));
        }
        __syncthreads(); // no thread may read the ticket before it is drawn
        t = drawn;
        if (threadIdx.x == 0) end_if_last(w, t, tiles);
    }

    // Fetch, and add up the segments.
    size_t begin = t.tile * TILE + segment * SEGMENT;
    fetch_segment(x, in, begin, n, ALIGNED);
    Sum sum = segment_sum<Sum>(x);
    if (lane == 0) sums[segment] = sum;
    __syncthreads(); // no warp may read the segments' sums before all are there
    Sum all = warp_scan<WARPS>(lane < WARPS ? sums[lane] : (Sum)0);
    Sum before = segment == 0 ? 0 : __shfl_sync(ALL_LANES, all, segment - 1);

    // Publish the tile's sum, and scan the segment while the sums of other tiles are on their way.
    if (!ALONE && threadIdx.x == WARPS - 1) write_state(&states[t.tile], t.epoch, all);
    segment_scan<INCLUSIVE>(x, y);
    if (!ALONE) before = (Sum)(sum_before<WARPS>(states, t) + before);
    store_segment(out, begin, n, before, y, ALIGNED);
}

#endif
