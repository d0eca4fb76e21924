/*
 * onchip.cuh — the kernel for more elements than scan_wave takes, if all sums fit on the chip.
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
#ifndef STEP12_ONCHIP_CUH
#define STEP12_ONCHIP_CUH

#include "wave.cuh"

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
