/*
 * ring.cuh — what the warps of scan_pipeline share: a ring of tiles in shared memory.
 *
 * A tile takes the next stage of the ring, and with it the next slot. A stage is given back as soon
 * as its elements are in registers; what is said about the tile stays in its slot for longer, so
 * there are twice as many slots.
 */
#ifndef STEP12_RING_CUH
#define STEP12_RING_CUH

#include "barrier.cuh"
#include "states.cuh"

#define STAGES 6 /* of 32 KiB for sums as wide as elements: 192 of an H200's 227 KiB */
#define SLOTS  (2 * STAGES)

template <typename In, typename Sum> struct ring_of {
    In data[STAGES][TILE(sizeof(Sum))];

    barrier full[STAGES];  // the tile has arrived, and slot.drawn is written
    barrier empty[STAGES]; // all readers of the tile have read it
    struct slot {
        barrier ready;                       // prefix and before are written
        struct ticket drawn;                 // the tile; NO_TILE: there are no more
        typename carry_of<Sum>::type prefix; // the sum of all tiles before
        Sum sums[TILE_SEGMENTS];             // of the tile's segments
        Sum before[TILE_SEGMENTS];           // of the segments before, within the tile
    } slot[SLOTS];
};

#define NO_TILE 0xffffffffu

/* The place of a warp in the ring. The parity says which phase of a barrier it waits for
 * (barrier.cuh). */
struct place {
    int stage, slot;
    unsigned stage_parity, slot_parity;
};

static __device__ void step_on(struct place *p)
{
    if (++p->stage == STAGES) p->stage = 0, p->stage_parity ^= 1;
    if (++p->slot == SLOTS) p->slot = 0, p->slot_parity ^= 1;
}

#endif
