/*
 * wave.cuh — the kernel for small and mid-sized n: a block for each tile, all of them at once.
 *
 * Step 11's form, a tile, its sum, its prefix; but no tile waits for a prefix: the threads of a
 * block ask for the sums of all tiles before it, one or two each, in one go. What is left is a row
 * of latencies, one after the other. Unless the scan is in place, no block waits for a ticket
 * before it fetches: its tile is that of its blockIdx, and a ticket says only which scan this is,
 * and that all blocks have begun. Those that have not are made up for (prefix.cuh).
 */
#ifndef STEP12_WAVE_CUH
#define STEP12_WAVE_CUH

#include "common/step/gpu.cuh"
#include "parts/prefix.cuh"

/* States are prefetched by at most this many blocks: more of them get in each other's way. */
#define WAVE_AHEAD_MOST 256

/* Fetches the states of `tiles` tiles into the L2 while the block waits for its elements. Otherwise
 * the first thread that asks for a state might have to wait for device memory. */
template <typename Sum>
static __device__ void prefetch_states(const state<Sum> *states, unsigned tiles)
{
    const unsigned LINE = 128 / sizeof(state<Sum>);
    if (threadIdx.x * LINE < tiles)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(
            __cvta_generic_to_global(&states[threadIdx.x * LINE])));
}

/* Adds up the threads' sums of tiles before `tile`, of the first LOOKERS warps: the lanes of a warp
 * in a balanced tree, then the warps. The result is in every thread. */
template <int LOOKERS, typename Carry> static __device__ Carry add_threads(Carry sum, unsigned tile)
{
    __shared__ Carry warps[LOOKERS];
    int warp = threadIdx.x / LANES;
    if (warp < LOOKERS && warp * LANES < tile) sum = warp_sum(sum);
    if (warp < LOOKERS && threadIdx.x % LANES == 0) warps[warp] = sum;
    __syncthreads(); // no thread may read the warps' sums before all are there

    Carry all[LOOKERS];
#pragma unroll
    for (int i = 0; i < LOOKERS; i++) all[i] = warps[i];
    return tree_sum(all);
}

/* The sum of the tiles before the ticket's, in every thread. Thread i of the first T adds up the
 * tiles i, i + T, i + 2T, …; then the threads are added. T is 32 LOOKERS, for the first LOOKERS of
 * WARPS warps. Waits for sums that are not published yet. */
template <int WARPS, int LOOKERS = WARPS, typename Sum>
static __device__ typename carry_of<Sum>::type sum_before(const state<Sum> *states, struct ticket t)
{
    bool looks = LOOKERS == WARPS || threadIdx.x < LOOKERS * LANES;
    typename carry_of<Sum>::type sum = 0;

    for (unsigned i = threadIdx.x; looks && i < t.tile; i += LOOKERS * LANES) {
        state<Sum> found;
        do found = read_state(&states[i]);
        while (!is_of(found, t.epoch));
        sum += value_of(found);
    }
    __syncwarp(); // lanes leave the loop at different times
    return add_threads<LOOKERS>(sum, t.tile);
}

/* The same sum if blocks have not drawn their tiles. make_up(tile) publishes a sum that does not
 * come. */
template <int WARPS, typename Sum, typename MakeUp>
static __device__ typename carry_of<Sum>::type sum_before(const state<Sum> *states, unsigned tile,
                                                          unsigned epoch, MakeUp make_up)
{
    unsigned next = threadIdx.x;
    typename carry_of<Sum>::type sum = 0;

    while (true) {
        for (int polls = 0; next < tile && polls < POLLS_MOST; polls++) {
            state<Sum> found = read_state(&states[next]);
            if (!is_of(found, epoch)) continue;
            sum += value_of(found);
            next += WARPS * LANES;
        }
        __syncwarp(); // lanes leave the loop at different times
        if (__builtin_expect(!__any_sync(ALL_LANES, next < tile), true)) break;
        make_up_for(next, tile, make_up);
    }
    return add_threads<WARPS>(sum, tile);
}

/* Warps on a multiprocessor, at least: with 32, a thread has 64 registers. 8 rows of doubles take a
 * few more. */
template <typename Sum, int ROWS>
constexpr int WAVE_RESIDENT = sizeof(Sum) == 8 && (Sum)0.5 != 0 && ROWS == 8 ? 24 : 32;

/* Scans n elements with `tiles` blocks of WARPS warps, each of which takes a segment of
 * ROWS rows. ALONE: there is one tile. */
template <int WARPS, int ROWS, bool ALONE, bool ALIGNED, bool INCLUSIVE, typename In, typename Sum>
static __global__ void __launch_bounds__(WARPS *LANES, (WAVE_RESIDENT<Sum, ROWS>) / WARPS)
    scan_wave(Sum *out, const In *in, size_t n, unsigned tiles, struct workspace *w)
{
    const size_t SEGMENT = ROWS * ROW(sizeof(Sum)), TILE = WARPS * SEGMENT;
    __shared__ struct ticket drawn;
    __shared__ Sum sums[WARPS];
    int segment = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    state<Sum> *states = states_of<Sum>(w);
    uint64_t ticket = 0;
    vector_of<In, Sum> x[ROWS];
    vector_of<Sum, Sum> y[ROWS];

    // Draw a ticket and fetch. Neither waits for the other, unless the scan is in place: another
    // block may not read a tile then which its own block overwrites. So nothing can be made up for,
    // and the tile is that of the ticket.
    wait_for_kernel_before();
    let_next_kernel_begin();
    bool in_place = (const void *)out == (const void *)in;
    unsigned tile = blockIdx.x;
    if (!ALONE && threadIdx.x == 0) ticket = begin_to_draw(w);
    if (!ALONE && tiles <= WAVE_AHEAD_MOST) prefetch_states(states, tiles);
    if (!ALONE && in_place) {
        if (threadIdx.x == 0) drawn = ticket_of(ticket);
        __syncthreads(); // no thread may read the ticket before it is drawn
        tile = drawn.tile;
    }
    size_t begin = tile * TILE + segment * SEGMENT;
    fetch_segment(x, in, begin, n, ALIGNED);

    // Add up the segments.
    Sum sum = segment_sum<Sum>(x);
    if (lane == 0) sums[segment] = sum;
    if (!in_place) // else the block has it already
        if (!ALONE && threadIdx.x == 0) drawn = ticket_of(ticket);
    __syncthreads(); // no warp may read the segments' sums and the ticket before all are there
    Sum all = warp_scan<WARPS>(lane < WARPS ? sums[lane] : (Sum)0);
    Sum before = segment == 0 ? 0 : __shfl_sync(ALL_LANES, all, segment - 1);

    // Publish the tile's sum, and scan the segment while the sums of other tiles are on their way.
    struct ticket t = {0, 0};
    if (!ALONE) {
        t = drawn;
        if (threadIdx.x == WARPS - 1) write_state(&states[tile], t.epoch, all);
        if (threadIdx.x == 0) end_if_last(w, ticket_of(ticket), tiles);
    }
    segment_scan<INCLUSIVE>(x, y);
    if (!ALONE) {
        auto make_up = [=](unsigned other) {
            if (!in_place) publish_for(states, other, t.epoch, in, n, WARPS, ROWS, ALIGNED);
        };
        before = (Sum)(sum_before<WARPS>(states, tile, t.epoch, make_up) + before);
    }
    store_segment(out, begin, n, before, y, ALIGNED);
}

/* ---- scan_onchip ----------------------------------------------------------------------------- */

/*
 * The kernel for more elements than scan_wave takes, if all sums fit on the chip.
 *
 * scan_wave's form, a block for each tile, all of them at once; but a tile is as large as one
 * multiprocessor can hold, so that few blocks wait for each other. A warp fetches its segment part
 * by part, and scans each part while the next ones of other warps are on their way. The scanned
 * parts stay on the chip: the last one in registers, the others in shared memory. The last sum of
 * the segment is the sum of the segment, so nothing is added up for it. When the prefix is known,
 * only an addition and a store are left for each element.
 *
 * On a GPU that has less shared memory, HELD is false: the parts before the last are fetched and
 * scanned a second time.
 */

#define ONCHIP_THREADS (ONCHIP_SEGMENTS * LANES)
#define ONCHIP_LOOKERS (ONCHIP_MAX_TILES / LANES) /* warps: a tile for each thread */

/* experiments/held.cu records moments here. */
#ifndef HELD_MOMENT
#define HELD_MOMENT(tile, what)
#endif

/* Needs ONCHIP_THREADS threads per block, a block for each tile of `parts` parts, and if HELD
 * onchip_held_bytes of shared memory. */
template <bool HELD, bool INCLUSIVE, typename In, typename Sum>
static __global__ void __launch_bounds__(ONCHIP_THREADS, 1)
    scan_onchip(Sum *out, const In *in, size_t n, int parts, bool aligned, struct workspace *w)
{
    const size_t PART = PART_ROWS * ROW(sizeof(Sum));
    extern __shared__ __align__(128) unsigned char shared[];
    __shared__ struct ticket drawn;
    __shared__ Sum sums[ONCHIP_SEGMENTS];
    int segment = threadIdx.x / LANES, lane = threadIdx.x % LANES, last = parts - 1;
    state<Sum> *states = states_of<Sum>(w);
    vector_of<In, Sum> x[PART_ROWS];
    vector_of<Sum, Sum> y[PART_ROWS];

    if (threadIdx.x == 0) drawn = draw_ticket(w);
    __syncthreads(); // no thread may read the ticket before it is drawn
    struct ticket t = drawn;
    if (threadIdx.x == 0) end_if_last(w, t, gridDim.x);
    HELD_MOMENT(t.tile, BEGUN);

    // Fetch and scan the segment, and hold all parts but the last in shared memory. Each lane reads
    // only what it has written there, so no barrier is needed.
    size_t begin = ((size_t)t.tile * ONCHIP_SEGMENTS + segment) * parts * PART;
    vector_of<Sum, Sum> *held = (vector_of<Sum, Sum> *)shared;
    held += segment * last * PART_ROWS * LANES + lane;
    Sum rows = 0;
    for (int p = 0; p < last; p++) {
        fetch_segment(x, in, begin + p * PART, n, aligned);
        scan_rows<INCLUSIVE, false>(x, y, rows);
#pragma unroll
        for (int r = 0; r < PART_ROWS; r++)
            if (HELD) held[(p * PART_ROWS + r) * LANES] = y[r];
    }
    fetch_segment(x, in, begin + last * PART, n, aligned);
    scan_rows<INCLUSIVE, false>(x, y, rows);

    if (lane == 0) sums[segment] = rows;
    HELD_MOMENT(t.tile, SCANNED);
    __syncthreads(); // no warp may read the segments' sums before all are there
    Sum all = warp_scan(sums[lane]);
    Sum before = segment == 0 ? 0 : __shfl_sync(ALL_LANES, all, segment - 1);
    if (threadIdx.x == ONCHIP_SEGMENTS - 1) write_state(&states[t.tile], t.epoch, all);
    auto prefix = sum_before<ONCHIP_SEGMENTS, ONCHIP_LOOKERS>(states, t);

    HELD_MOMENT(t.tile, FOUND);

    // Add what is before the segment, and store.
    Sum base = (Sum)(prefix + before);
    store_segment(out, begin + last * PART, n, base, y, aligned);
    rows = 0;
    for (int p = 0; p < last; p++) {
        if (HELD) {
#pragma unroll
            for (int r = 0; r < PART_ROWS; r++) y[r] = held[(p * PART_ROWS + r) * LANES];
        } else {
            fetch_segment(x, in, begin + p * PART, n, aligned);
            scan_rows<INCLUSIVE, false>(x, y, rows);
        }
        store_segment(out, begin + p * PART, n, base, y, aligned);
    }
    HELD_MOMENT(t.tile, STORED);
}

#endif
