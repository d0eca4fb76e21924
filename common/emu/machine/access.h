/*
 * access.h — one warp's access to memory, and the door that it passes (ops_access.c).
 *
 * For operations that are no plain loads and stores. These are compiled once, and go through the
 * door as compiled for any CPU.
 */
#ifndef EMU_ACCESS_H
#define EMU_ACCESS_H

#include "machine.h"

struct access {
    uint64_t address[WARP]; /* of the lanes in `mask`; the others hold one of those */
    uint32_t mask;
    unsigned bytes;        /* a lane */
    unsigned checked;      /* of those, the first so many must be inside of memory */
    enum ptx_space space;  /* as the instruction says; behind the door, never generic */
    struct block *owner;   /* of shared memory: whose it is */
    const char *operation; /* "ld", "st", "atom" */
};

/*
 * Lets through the lanes of an access that go to one place: those in access->mask afterwards. *host
 * + address is where a lane's bytes are. Returns that mask, or 0 after a fault.
 */
uint32_t access_door_base(struct warp *, const struct insn *, struct access *, uint64_t *host);

/* Combines the element at `at` with an operand, as an atomic operation with insn's function and type
 * does. True: that has changed it. */
bool access_combine_base(const struct insn *, void *at, const void *operand);

/* What a lane has for an address operand. */
static inline uint64_t address_of(const struct warp *w, const struct address *a, int lane)
{
    if (a->bytes == 8) return ((const uint64_t *)slot_at(w, a->base))[lane] + (uint64_t)a->offset;
    return ((const uint32_t *)slot_at(w, a->base))[lane] + (uint32_t)a->offset;
}

#endif
