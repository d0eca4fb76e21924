/*
 * shared.h — addresses of shared memory, the block's own and that of others in its cluster (PTX ISA,
 * ".shared::cta", ".shared::cluster").
 *
 * An address has 32 bits: the rank of a block in the highest 8, an offset in the others, as on a
 * GPU. A variable's address has the rank of its own block in it, so that it means the same
 * everywhere in the cluster; without clusters every rank is 0.
 */
#ifndef EMU_SHARED_H
#define EMU_SHARED_H

#include "access.h"

enum { RANK_SHIFT = 24 };
static inline uint64_t shared_window(unsigned rank) { return (uint64_t)rank << RANK_SHIFT; }
static inline uint64_t shared_offset(uint64_t address) { return address & (shared_window(1) - 1); }

/* Of an access to shared memory, keeps the lanes that go to the same block as the first, and leaves
 * offsets in their addresses. `own`: .shared::cta, which reaches no other block. Returns whose
 * memory it is; NULL after a fault. */
struct block *shared_enter(struct warp *, const struct insn *, struct access *, bool own);

/* A place in shared memory that is no operand of a load or store. */
struct shared_place {
    struct block *owner;
    uint32_t offset;
};
/* Finds the place of `bytes` bytes at an address of a space: .shared::cta, .shared::cluster or
 * generic. False after a fault: there is none, or it is not so aligned. */
bool shared_find(struct warp *, const struct insn *, int lane, enum ptx_space, uint64_t address,
                 uint64_t bytes, unsigned alignment, struct shared_place *);

#endif
