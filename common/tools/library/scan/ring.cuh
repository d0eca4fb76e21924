/*
 * ring.cuh — what the warps of the pipeline share: a ring of tiles in shared memory.
 *
 * As step 12's ring, with a stage of several arrays: elements of one or two inputs, and what gives
 * the heads. A stage is a multiple of 128 bytes, and so is the place of each array in it: copies to
 * other addresses take longer.
 */
#ifndef STEP16_RING_CUH
#define STEP16_RING_CUH

#include "arrays.cuh"
#include "steps/12-pipeline/parts/barrier.cuh"

#define LINE        128
#define HALO        16           /* bytes of the array of heads beside the tile's own */
#define RING_BYTES  (216 * 1024) /* of an H200's 227 KiB */
#define MOST_STAGES 6

constexpr int lines(int bytes) { return (bytes + LINE - 1) / LINE * LINE; }

// clang-format off: it takes these for something else
/* The layout of a stage: offsets in bytes. */
template <typename Op, enum heads HEADS> struct stage_of {
    typedef typename head_array<HEADS>::type Head;
    enum {
        V = LANE_TAKES(WIDEST<Op>),
        ELEMENTS = SEGMENTS * MANY_ROWS * LANES * V,
        HEAD_BYTES = HEADS_READ(HEADS) ? ELEMENTS / HEADS_PER(HEADS) * (int)sizeof(Head) : 0,
        IN2 = lines(ELEMENTS * (int)sizeof(typename Op::In)),
        OF_HEADS = IN2 + lines(ELEMENTS * bytes_of<typename Op::In2>::value),
        OF_HALO = OF_HEADS + HEAD_BYTES,
        BYTES_IN_ALL = lines(OF_HALO + (HEADS_READ(HEADS) ? HALO : 0)),
    };
};

template <typename Op, enum heads HEADS> struct ring_of {
    typedef stage_of<Op, HEADS> Stage;
    typedef typename Op::State State;
    enum {
        FIT = RING_BYTES / Stage::BYTES_IN_ALL,
        STAGES = FIT < MOST_STAGES ? FIT : MOST_STAGES,
        SLOTS = 2 * STAGES,
    };
    unsigned char data[STAGES][Stage::BYTES_IN_ALL];

    barrier full[STAGES];  // the tile has arrived, and slot.drawn is written
    barrier empty[STAGES]; // all readers of the tile have read it
    struct slot {
        barrier ready;          // prefix, before and open are written
        struct ticket drawn;    // the tile; NO_TILE: there are no more
        unsigned first_head;    // ROWS: where the tile's first row begins
        State prefix;           // of all before the tile
        State sums[SEGMENTS];   // of the tile's segments
        State before[SEGMENTS]; // of the segments before, within the tile
        bool heads[SEGMENTS];   // is there a head in the segment?
        unsigned open;          // bit s: there is no head in the segments before s
    } slot[SLOTS];
};
// clang-format on

#define NO_TILE 0xffffffffu

/* The place of a warp in the ring. The parity says which phase of a barrier it waits for. */
template <int STAGES> struct place {
    int stage, slot;
    unsigned stage_parity, slot_parity;
};

template <int STAGES> static __device__ void step_on(struct place<STAGES> *p)
{
    if (++p->stage == STAGES) p->stage = 0, p->stage_parity ^= 1;
    if (++p->slot == 2 * STAGES) p->slot = 0, p->slot_parity ^= 1;
}

#endif
