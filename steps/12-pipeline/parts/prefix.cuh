/*
 * prefix.cuh — what lies before a tile, from the sums of all tiles before it.
 *
 * Lane l of a warp adds up the sums of the tiles l, l+32, l+64, … in this order; then the lanes'
 * sums are added in a balanced tree. So the prefix of a tile is bitwise identical, whichever
 * warp computes it. A warp that has computed it for one tile goes on from there for its next one:
 * each lane keeps its sum. Step 11's tiles wait for each other's prefixes, one after the other;
 * here they wait for sums only, and there is no chain.
 */
#ifndef STEP12_PREFIX_CUH
#define STEP12_PREFIX_CUH

#include "segment.cuh"
#include "states.cuh"

/* States that a lane loads at a time, so that it waits for all of them together. With 132 blocks, a
 * lane has four or five new states to add from one tile of its block to the next. */
#define LOOK 8

/* The progress of a lane: the sum of its tiles before `next`. */
template <typename Sum> struct progress {
    typename carry_of<Sum>::type sum;
    unsigned next;
};

template <typename Sum> static __device__ struct progress<Sum> progress_start(void) {
    return {0, threadIdx.x % LANES};
}

/* States that a lane has begun to load: those of its tiles `next`, next + 32, … */
template <typename Sum> struct window {
    state<Sum> found[LOOK];
};

/* The first tile of this lane that is not before `tile`. */
static __device__ unsigned first_from(unsigned tile)
{
    unsigned lane = threadIdx.x % LANES;
    return (tile + LANES - 1 - lane) / LANES * LANES + lane;
}

/* Begins to load the states of this lane's tiles from `next` on and before `tile`, all at once.
 * Does not wait for them. */
template <typename Sum>
static __device__ void load_window(struct window<Sum> &w, const state<Sum> *states, unsigned next,
                                   unsigned tile)
{
#pragma unroll
    for (int k = 0; k < LOOK; k++)
        if (next + k * LANES < tile) w.found[k] = read_state(&states[next + k * LANES]);
}

/* Loads again, all at once, the states of the window that were not published. False if none was
 * left. */
template <typename Sum>
static __device__ bool load_again(struct window<Sum> &w, const state<Sum> *states, unsigned next,
                                  unsigned tile, unsigned epoch)
{
    bool again = false;
#pragma unroll
    for (int k = 0; k < LOOK; k++)
        if (next + k * LANES < tile && !is_of(w.found[k], epoch)) {
            w.found[k] = read_state(&states[next + k * LANES]);
            again = true;
        }
    return again;
}

/* The sum of all tiles before `tile`, in every lane of the calling warp, whose window is being
 * loaded from p->next on. Waits for sums that are not published yet. The warp must call it with
 * ascending tiles. */
template <typename Sum>
static __device__ typename carry_of<Sum>::type
prefix_from(struct window<Sum> &w, const state<Sum> *states, unsigned tile, unsigned epoch,
            struct progress<Sum> *p)
{
    while (p->next < tile) {
        while (load_again(w, states, p->next, tile, epoch));
#pragma unroll
        for (int k = 0; k < LOOK; k++)
            if (p->next < tile) {
                p->sum += value_of(w.found[k]);
                p->next += LANES;
            }
        load_window(w, states, p->next, tile);
    }
    __syncwarp(); // lanes may have left the loop at different times
    return warp_sum(p->sum);
}

/* The prefix of a tile, for a caller that has no window in flight yet. */
template <typename Sum>
static __device__ typename carry_of<Sum>::type prefix_of(const state<Sum> *states, unsigned tile,
                                                         unsigned epoch, struct progress<Sum> *p)
{
    struct window<Sum> w;
    load_window(w, states, p->next, tile);
    return prefix_from(w, states, tile, epoch, p);
}

/* ---- the sum of a tile whose block has not begun --------------------------------------------- */

/*
 * The sum of a tile whose block has not begun.
 *
 * A block that takes the tile of its blockIdx can load it at once, and need not wait for a ticket.
 * But CUDA promises no order in which blocks begin. So a tile may belong to a block that begins
 * only when others have ended, and those must not wait for its sum. A warp that has polled for long
 * adds up the tile itself, in the order in which the block does. If the block publishes the sum
 * later, it writes the same bits. That is so only if nobody overwrites the tile, so a scan in place
 * needs tickets.
 */

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
