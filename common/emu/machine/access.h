/*
 * access.h — one warp's access to memory, and the door that every access passes
 * (operations_ops_door.c).
 *
 * The functions here are for operations other than plain loads and stores. They are those of one
 * instruction set that is compiled (operations.c).
 */
#ifndef EMU_ACCESS_H
#define EMU_ACCESS_H

#include "machine.h"

enum operation { OPERATION_LOAD, OPERATION_STORE, OPERATION_ATOMIC };

/* The agent that makes an access. */
enum agent {
    BY_THREAD,
    BY_COPY,    /* a cp.async of the thread */
    BY_BULK,    /* a cp.async.bulk that the thread waits for by groups */
    BY_BARRIER, /* a cp.async.bulk that arrives at the mbarrier of that number */
};

/* Identifies a copy for observers of the order of accesses. */
struct copy_mark {
    uint32_t when;   /* the time when it began */
    uint16_t number; /* of its mbarrier */
};

/* The values that lanes store: lane l's bytes are at first + l * stride. */
struct stored_values {
    const char *first;
    unsigned stride;
};

struct access {
    uint64_t address[WARP]; /* of the lanes in `mask`; other lanes repeat one of these */
    uint32_t mask;
    unsigned bytes;       /* per lane */
    unsigned checked;     /* of these, how many must be inside of memory */
    enum ptx_space space; /* the instruction's; never generic once the door is passed */
    enum operation operation;
    enum agent agent;
    struct copy_mark copy; /* of a copy, with ANNOUNCE_ORDER */
    /* Of a store by tensor cores; NULL: of other stores, which have the values in the registers of
     * the instruction, or if they are unknown. */
    struct stored_values stored;
    /* Set by the door: */
    struct block *owner; /* the block that owns the shared memory; for other spaces, the warp's */
    uint64_t host;       /* a lane's bytes are at host + address */
    uint32_t outside;    /* of the mask: lanes outside of all memory (stray.h) */
};

static inline bool access_reads(const struct access *a) { return a->operation != OPERATION_STORE; }
static inline bool access_writes(const struct access *a) { return a->operation != OPERATION_LOAD; }

/* Makes an access by threads. The caller fills in the addresses, and the mask if the access is
 * split over several places. */
static inline void access_make(struct access *a, enum operation operation, enum ptx_space space,
                               uint32_t mask, unsigned bytes)
{
    a->mask = mask;
    a->bytes = a->checked = bytes;
    a->space = space;
    a->operation = operation;
    a->agent = BY_THREAD;
    a->copy = (struct copy_mark){0};
    a->stored = (struct stored_values){0};
    a->owner = NULL;
    a->host = 0;
    a->outside = 0;
}

/* The usual access of threads is a run: lane l's address is first + l * stride. */
struct access_run {
    uint64_t first;  /* of lane 0, even if it is not in the mask */
    unsigned stride; /* 0: all lanes go to one place; otherwise it is `bytes` */
    unsigned bytes;  /* a lane */
    uint32_t mask;
    enum ptx_space space; /* behind the door, never generic; shared memory is the block's own */
    enum operation operation;
    uint64_t host; /* a lane's bytes are at host + address */
};

/*
 * Checks an access and translates its addresses, for the lanes that access the same place as the
 * first lane: access->mask afterwards. Returns this mask, or 0 after a fault.
 */
uint32_t access_door_any(struct warp *, const struct insn *, struct access *);

/* Combines the element at `at` with an operand like an atomic operation with the instruction's
 * function and type. True: the element has changed. */
bool access_combine_any(const struct insn *, void *at, const void *operand);

/* A lane's value of an address operand. */
static inline uint64_t address_of(const struct warp *w, const struct address *a, int lane)
{
    if (a->bytes == 8) return ((const uint64_t *)slot_at(w, a->base))[lane] + (uint64_t)a->offset;
    return ((const uint32_t *)slot_at(w, a->base))[lane] + (uint32_t)a->offset;
}

#endif
