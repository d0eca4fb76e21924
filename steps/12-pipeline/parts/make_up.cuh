/*
 * make_up.cuh — the sum of a tile whose block has not begun.
 *
 * A block that takes the tile of its blockIdx can load it at once, and need not wait for a ticket.
 * But CUDA promises no order in which blocks begin. So a tile may belong to a block that begins
 * only when others have ended, and those must not wait for its sum. A warp that has polled for long
 * adds up the tile itself, in the order in which the block does. If the block publishes the sum
 * later, it writes the same bits. That is so only if nobody overwrites the tile, so a scan in place
 * needs tickets.
 */
#ifndef STEP12_MAKE_UP_CUH
#define STEP12_MAKE_UP_CUH

#include "memory.cuh"
#include "segment.cuh"
#include "states.cuh"

/* A thread that has polled a state this often, far longer than a wave takes, takes the tile's block
 * for one that has not begun. */
#define POLLS_MOST 1000

/* Publishes the sum of a tile of `segments` segments of `rows` rows. The whole warp calls it. It is
 * rarely needed, so it takes few registers. */
template <typename In, typename Sum>
static __device__ void publish_for(state<Sum> *states, unsigned tile, unsigned epoch, const In *in,
                                   size_t n, int segments, int rows, bool aligned)
{
    const size_t WIDTH = ROW(sizeof(Sum));
    int lane = threadIdx.x % LANES;
    Sum mine = 0;
#pragma unroll 1
    for (int s = 0; s < segments; s++) {
        size_t begin = ((size_t)tile * segments + s) * rows * WIDTH;
        Sum sum = 0;
#pragma unroll 1
        for (int r = 0; r < rows; r++) {
            vector_of<In, Sum> x[1];
            fetch_segment(x, in, begin + r * WIDTH, n, aligned);
            add_rows(x, sum);
        }
        sum = warp_sum(sum);
        if (lane == s) mine = sum;
    }
    Sum all = warp_scan(mine);
    if (lane == segments - 1) write_state(&states[tile], epoch, all);
}

/* Calls make_up with the least of the tiles for whose sums the lanes of a warp wait: `missing`, if
 * it is before `tile`. */
template <typename MakeUp>
static __device__ void make_up_for(unsigned missing, unsigned tile, MakeUp make_up)
{
    unsigned least = missing;
#pragma unroll
    for (int d = 1; d < LANES; d *= 2) {
        unsigned other = __shfl_xor_sync(ALL_LANES, least, d);
        least = other < least ? other : least;
    }
    if (least < tile) make_up(least);
}

#endif
