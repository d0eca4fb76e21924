/*
 * access.h — one warp's access to memory, and the door that it passes (ops_door.c).
 *
 * For operations that are no plain loads and stores. These are compiled once, and go through the
 * door as compiled for any CPU.
 */
#ifndef EMU_ACCESS_H
#define EMU_ACCESS_H

#include "machine.h"

enum operation { OPERATION_LOAD, OPERATION_STORE, OPERATION_ATOMIC };

/* Whose an access is. */
enum agent {
    BY_THREAD,
    BY_COPY,    /* that of a cp.async of the thread */
    BY_BULK,    /* of a cp.async.bulk of the thread, which it waits for by groups */
    BY_BARRIER, /* of a cp.async.bulk that arrives at the mbarrier of that number */
};

/* What a copy is known by to those who observe its order. */
struct copy_mark {
    uint32_t when;   /* it began */
    uint16_t number; /* of its mbarrier */
};

struct access {
    uint64_t address[WARP]; /* of the lanes in `mask`; the others hold one of those */
    uint32_t mask;
    unsigned bytes;       /* a lane */
    unsigned checked;     /* of those, the first so many must be inside of memory */
    enum ptx_space space; /* as the instruction says; behind the door, never generic */
    enum operation operation;
    enum agent agent;
    struct copy_mark copy; /* of one that is not BY_THREAD, with ANNOUNCE_ORDER */
    /* Known behind the door: */
    struct block *owner; /* of shared memory: whose it is; of other memory, the warp's block */
    uint64_t host;       /* a lane's bytes are at host + address */
};

static inline bool access_reads(const struct access *a) { return a->operation != OPERATION_STORE; }
static inline bool access_writes(const struct access *a) { return a->operation != OPERATION_LOAD; }

/* Makes an access of threads; the addresses are the caller's to fill in, and the mask where the
 * access is made for several places. */
static inline void access_make(struct access *a, enum operation operation, enum ptx_space space,
                               uint32_t mask, unsigned bytes)
{
    a->mask = mask;
    a->bytes = a->checked = bytes;
    a->space = space;
    a->operation = operation;
    a->agent = BY_THREAD;
    a->copy = (struct copy_mark){0};
    a->owner = NULL;
    a->host = 0;
}

/*
 * Lets through the lanes of an access that go to one place: those in access->mask afterwards.
 * Returns that mask, or 0 after a fault.
 */
uint32_t access_door_base(struct warp *, const struct insn *, struct access *);

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
