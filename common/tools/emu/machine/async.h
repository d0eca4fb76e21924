/* async.h — barriers, mbarriers, asynchronous copies, and waiting for them. */
#ifndef EMU_ASYNC_H
#define EMU_ASYNC_H

#include "machine.h"

/* ---- the named barriers of a block ----------------------------------------------------------- */

/* A fragment comes to a barrier. This may release all fragments that wait there, and this one. */
void barrier_arrive(struct warp *, struct fragment *, const struct insn *, bool waits);
/* Releases the fragments that wait at a barrier. */
void barrier_release(struct block *, unsigned number);

/* ---- instructions that wait for the end of a phase ------------------------------------------- */

/* Instructions that wait for the end of a phase: barrier.cluster.wait and mbarrier.try_wait.
 *
 * A fragment stays at such an instruction until the phase is over for one of its lanes. Its block
 * checks this before each turn of the warp. */

/* Lanes come to the instruction. The fragment's other lanes, which the guard holds back, skip
 * it. */
void phase_wait_begin(struct warp *, struct fragment *, const struct insn *, uint32_t lanes);
/* Lets the fragments go on whose wait is over. */
void phase_wait_poll_all(struct warp *);
static inline void phase_wait_poll(struct warp *w)
{
    if (w->may_wait) phase_wait_poll_all(w);
}
/* No thread of the cluster can go on: the waits that have a time limit time out. False: there is no
 * such wait, or it has timed out too often, which is a fault. */
bool phase_wait_time_out(struct cluster *);
/* Ends the launch if the cluster was last seen waiting for an mbarrier. `why`: the reason, for the
 * message. False: the cluster is not in such a wait. */
bool phase_wait_give_up(struct cluster *, int error, const char *why);

/* ---- barrier.cluster (collective.c) ---------------------------------------------------------- */

/* Is a barrier.cluster.wait over? Returns all of the lanes, or 0. */
uint32_t cluster_wait_over(struct warp *, const struct insn *, uint32_t lanes);
/* Ends the launch with a message about a barrier.cluster that never completes. */
void cluster_report(struct warp *, const struct insn *, int lane);

/* ---- mbarriers ------------------------------------------------------------------------------- */

/* Mbarriers: barriers in shared memory that count arrivals and bytes (PTX ISA, "mbarrier").
 *
 * An mbarrier has 64 bits, whose layout is hidden from programs. It counts the arrivals that its
 * phase still lacks, and the bytes that asynchronous copies still have to deliver (tx-count). When
 * both are zero, the phase is complete, and the next one begins with the same number of expected
 * arrivals. A waiting thread asks whether the phase of its own arrival is over, or the phase with a
 * parity.
 *
 * Only blocks of one cluster can access an mbarrier. One host thread runs them, so no lock is
 * needed. */

/* Operations of asynchronous copies on an mbarrier, in the name of a lane. */
void mbarrier_arrive_at(struct warp *, const struct insn *, int lane, const struct shared_place *,
                        unsigned arrivals);
void mbarrier_expect_arrival(struct warp *, const struct insn *, int lane,
                             const struct shared_place *);
void mbarrier_complete_bytes(struct warp *, const struct insn *, int lane,
                             const struct shared_place *, uint64_t bytes);
/* Is there a valid mbarrier? False after a fault. */
bool mbarrier_check(struct warp *, const struct insn *, int lane, const struct shared_place *);

/* ---- asynchronous copies --------------------------------------------------------------------- */

/* Asynchronous copies and stores, cp.async and st.async (async.c), and cp.async.bulk (bulk.c).
 *
 * A GPU carries out a copy at some time between the instruction and the wait for it. The emulator
 * carries it out as late as possible: when a thread has waited for it (cp.async.wait_group, an
 * mbarrier, cp.async.bulk.wait_group), or when the block ends, if other blocks can see the result.
 * So a program that forgets to wait always reads the old bytes, and a source that is changed too
 * early is copied with the change. Addresses are checked, counted and announced when the copy is
 * issued.
 *
 * Each block has its own queues. Only the host thread of its cluster uses them. */

struct copy_queue;
struct bulk_copy;
struct async_store;

/* Stores in the order in which they were issued. */
struct async_stores {
    struct async_store *first, *last;
};

struct async {
    struct copy_queue *queues;            /* cp.async copies, by warp */
    struct bulk_copy *arriving, *grouped; /* bulk copies that complete at an mbarrier of this block;
                                              those that its threads wait for by groups */
    struct bulk_copy *last_arriving, *last_grouped; /* NULL: not known */
    struct async_stores stores;           /* st.async into this block */
    uint32_t (*bulk_groups)[WARP];        /* by warp and lane: the number of committed groups */
};

/* The queues of the warp's block, made at the first call; NULL after a fault. */
struct async *async_of(struct block *);
/* A block starts; its memory is freed. */
void async_start(struct block *);
void async_free(struct block *);
/* Carries out all copies and stores that arrive at an mbarrier, and arrives for them. */
void async_carry_out(const struct shared_place *mbarrier);

/* ---- cp.async.bulk (bulk.c) */

void bulk_arrive_at(const struct shared_place *mbarrier);
/* A block has ended: copies that other blocks can see are carried out. */
void bulk_finish(struct block *);
void bulk_copies_free(struct bulk_copy **list);

/* ---- what a CUtensorMap holds under the emulator --------------------------------------------- */

/* What a CUtensorMap holds under the emulator: a layout of its own in the 128 bytes
 * that are opaque to programs. The driver API makes a map (runtime/driver_tensor.c), and bulk
 * copies of tensors read it (tensor.c). */

/* USED: what the members of struct tensor_map fill. */
enum {
    TENSOR_RANKS = 5,
    TENSOR_MAP_BYTES = 128,
    TENSOR_MAP_USED = 107,
    TENSOR_MAP_ALIGNMENT = 64,
};

/* Within lines of 16 << swizzle bytes, chunks of 16 bytes of shared memory change places; see
 * swizzled() in tensor.c. */
enum tensor_swizzle { SWIZZLE_NONE, SWIZZLE_32, SWIZZLE_64, SWIZZLE_128 };

/* Dimension 0 is the one whose elements are neighbours. */
struct tensor_map {
    uint64_t seal;                     /* tensor_map_seal(): other bytes are no map */
    uint64_t address;                  /* of the first element */
    uint64_t size[TENSOR_RANKS];       /* elements along each dimension */
    uint64_t stride[TENSOR_RANKS - 1]; /* bytes, of dimensions 1 to 4 */
    uint16_t box[TENSOR_RANKS];        /* elements that a copy spans */
    uint8_t step[TENSOR_RANKS];        /* of these it takes every step-th */
    uint8_t rank;
    uint8_t type; /* enum ptx_type, of the elements */
    uint8_t swizzle;
    bool fills_nan; /* what lies outside of the tensor becomes NaN, not 0 */
    uint8_t unused[TENSOR_MAP_BYTES - TENSOR_MAP_USED];
};
/* What the seal of a map must be: a hash of all that follows it (FNV-1a, by words). */
static inline uint64_t tensor_map_seal(const struct tensor_map *map)
{
    uint64_t words[TENSOR_MAP_BYTES / sizeof(uint64_t)], hash = UINT64_C(0xcbf29ce484222325);
    memcpy(words, map, sizeof words);
    for (unsigned k = 1; k < TENSOR_MAP_BYTES / sizeof(uint64_t); k++)
        hash = (hash ^ words[k]) * UINT64_C(0x100000001b3);
    return hash;
}
_Static_assert(sizeof(struct tensor_map) == TENSOR_MAP_BYTES, "it is a CUtensorMap");

/* ---- the box of a tensor that a bulk copy moves ---------------------------------------------- */

/* The box of a tensor that a bulk copy moves: which bytes of shared memory belong to
 * which bytes of global memory (PTX ISA, "Tensors").
 *
 * In shared memory the elements of the box follow each other without gaps, dimension 0 first. A
 * swizzle exchanges units of 16 bytes, by the bits of their addresses. A box may reach beyond the
 * tensor: a load writes 0 or NaN to shared memory there, and a store skips it, but for the rest of
 * the last 16 bytes of a row. */

enum { TENSOR_ALIGNMENT = 128 }; /* of the box in shared memory */

struct tensor_box {
    struct tensor_map map;
    int32_t at[TENSOR_RANKS];     /* the coordinates of its first element; may be outside */
    uint32_t count[TENSOR_RANKS]; /* elements along each dimension */
    bool is_stored;               /* or reduced; false: the box is loaded */
    uint64_t bytes;
    uint64_t span;   /* bytes of shared memory; with a swizzle, whole lines of its pattern */
    uint32_t offset; /* in shared memory; the caller sets it */
};

/* Reads the map and the coordinates of a lane's instruction. False after a fault. */
bool tensor_box_read(struct warp *, const struct insn *, int lane, struct tensor_box *);

/* Finds the bytes in global memory; *delta becomes the number that, added to their global address,
 * gives the host address. False after a fault. */
bool tensor_find(struct warp *, const struct insn *, int lane, const struct tensor_box *,
                 int64_t *delta);
/* Announces the accesses of one side of a copy. The caller has filled in `access`, except for
 * addresses and sizes. */
void tensor_announce(struct warp *, const struct insn *, const struct tensor_box *,
                     struct access *);

/* Carries out the copy between shared memory, from the box's first byte on, and the tensor, from
 * its first element on. Returns whether it has changed memory. */
bool tensor_carry_out(const struct insn *, const struct tensor_box *, uint8_t *shared,
                      uint8_t *tensor);

#endif
