/*
 * ring.cuh — what the warps of select_pipeline share: a ring of tiles in shared memory.
 *
 * Same as step 12's ring except: a stage may have flags beside the elements, and it holds the kept
 * elements, too, once they are found. So it is given back when these are stored, and what is said
 * about a tile needs no longer-lived slot.
 */
#ifndef STEP13_RING_CUH
#define STEP13_RING_CUH

#include "keep.cuh"
#include "segment.cuh"
#include "steps/12-pipeline/parts/barrier.cuh"

/* Warps that pick a segment each, and those that store. By flags, picking takes fewer warps.
 * Otherwise storing does if few elements are kept, and large tiles are better. With flags, 15 and
 * 16 were faster on an H200 if few are kept, but slower if all are. */
enum { PICK_AND_STORE_WARPS = 24 };
template <typename Keep> constexpr int PICK_WARPS = flags_of<Keep>::ARE_THERE ? 14 : 16;
template <typename Keep> constexpr int STORE_WARPS = PICK_AND_STORE_WARPS - PICK_WARPS<Keep>;

/* Elements of a tile: a segment a warp, which is 2 KiB, or 512 elements shorter than 4 bytes. */
template <typename T, typename Keep> constexpr unsigned TILE_OF = PICK_WARPS<Keep> *SEGMENT_OF<T>;

#define NO_TILE     0xffffffffu
#define MOST_STAGES 12
#define RING_BYTES  (216 * 1024) /* of an H200's 227 KiB */

/* A stage of the ring: the elements, their flags if the Keep has flags, and the list of what is
 * kept of each segment, where its elements were unless they are too short for that. */
template <typename T, typename Keep> struct stage_of {
    typedef typename stored<T, Keep>::held Held;
    enum {
        ELEMENTS = TILE_OF<T, Keep> * sizeof(T),
        FLAGS = flags_of<Keep>::ARE_THERE ? TILE_OF<T, Keep> : 0,
        LISTS = sizeof(Held) > sizeof(T) ? TILE_OF<T, Keep> * sizeof(Held) : 0,
        BYTES = ELEMENTS + FLAGS + LISTS,
    };
    unsigned char bytes[BYTES];

    __device__ T *elements() { return (T *)bytes; }
    __device__ uint8_t *flags() { return bytes + ELEMENTS; }
    __device__ Held *list(int segment)
    {
        if (LISTS) return (Held *)(bytes + ELEMENTS + FLAGS) + segment * SEGMENT_OF<T>;
        return (Held *)(elements() + segment * SEGMENT_OF<T>);
    }
};

template <typename T, typename Keep> struct selection {
    typedef stage_of<T, Keep> Stage;
    enum {
        FIT = RING_BYTES / Stage::BYTES,
        STAGES = FIT < MOST_STAGES ? FIT : MOST_STAGES,
    };
    Stage stage[STAGES];
    barrier full[STAGES];  // the tile is there, and slot.drawn
    barrier empty[STAGES]; // the tile's kept elements are stored
    struct slot {
        barrier picked;                    // kept elements are together, and counts are there
        barrier ready;                     // prefix and before are there
        struct ticket drawn;               // which tile it is; NO_TILE: there are no more
        uint64_t prefix;                   // elements that are kept before the tile
        unsigned kept;                     // elements that are kept of the tile
        unsigned counts[PICK_WARPS<Keep>]; // of the tile's segments
        unsigned before[PICK_WARPS<Keep>]; // in the segments before, within the tile
    } slot[STAGES];

    /* The place of a warp in the ring, and the parity of the phases that it waits for. */
    struct place {
        int stage;
        unsigned parity;
    };
    static __device__ void step_on(struct place *p)
    {
        if (++p->stage == STAGES) p->stage = 0, p->parity ^= 1;
    }
};

#endif
