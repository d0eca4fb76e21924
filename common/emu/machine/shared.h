/*
 * shared.h — addresses of shared memory: the block's own, and those of other blocks in its cluster
 * (PTX ISA, ".shared::cta", ".shared::cluster").
 *
 * An address has 32 bits, as on a GPU: the rank of a block in the highest 8, and an offset in the
 * others. A variable's address contains the rank of its own block, so it means the same in the
 * whole cluster. Without clusters every rank is 0.
 */
#ifndef EMU_SHARED_H
#define EMU_SHARED_H

#include "access.h"

enum { RANK_SHIFT = 24 };
static inline uint64_t shared_window(unsigned rank) { return (uint64_t)rank << RANK_SHIFT; }
static inline uint64_t shared_offset(uint64_t address) { return address & (shared_window(1) - 1); }

/* Reduces an access to the lanes that access the same block as the first lane, and replaces their
 * addresses by offsets. `own`: .shared::cta, which reaches no other block. Returns the block; NULL
 * after a fault. */
struct block *shared_enter(struct warp *, const struct insn *, struct access *, bool own);

/* A place in shared memory that is not accessed by a load or store. */
struct shared_place {
    struct block *owner;
    uint32_t offset;
};
/* Finds the place of `bytes` bytes at an address of .shared::cta, .shared::cluster or generic
 * space. False after a fault: the address is outside of the memory, or not aligned. */
bool shared_find(struct warp *, const struct insn *, int lane, enum ptx_space, uint64_t address,
                 uint64_t bytes, unsigned alignment, struct shared_place *);

#endif
