/*
 * prefix.cuh — what lies before a tile, from the sums of all tiles before it.
 *
 * Lane l of a warp adds up the sums of the tiles l, l+32, l+64, … in this order; then the lanes'
 * sums are added in a balanced tree. So the prefix of a tile is the same in every bit, whichever
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

/* The sum of all tiles before `tile`, in every lane of the calling warp. Waits for sums that are
 * not published yet. The warp must call it with ascending tiles. */
template <typename Sum>
static __device__ typename carry_of<Sum>::type prefix_of(const state<Sum> *states, unsigned tile,
                                                         unsigned epoch, struct progress<Sum> *p)
{
    while (p->next < tile) {
        state<Sum> found[LOOK];

        // Load all states at once, then load again each one that was not published.
#pragma unroll
        for (int k = 0; k < LOOK; k++)
            if (p->next + k * LANES < tile) found[k] = read_state(&states[p->next + k * LANES]);
#pragma unroll
        for (int k = 0; k < LOOK; k++)
            if (p->next < tile) {
                while (!is_of(found[k], epoch)) found[k] = read_state(&states[p->next]);
                p->sum += value_of(found[k]);
                p->next += LANES;
            }
    }
    __syncwarp(); // lanes may have left the loop at different times
    return warp_sum(p->sum);
}

#endif
