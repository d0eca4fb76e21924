/*
 * race_access.h — one lane's access of one granule. race.c splits a warp's access into these;
 * race_pair.c compares each with the earlier accesses.
 */
#ifndef EMU_RACE_ACCESS_H
#define EMU_RACE_ACCESS_H

#include "race_state.h"
#include <string.h>

struct lane_access {
    struct warp *w;
    const struct insn *insn;
    enum ptx_space space;
    struct race_block *owner; /* of the shared memory that is accessed */
    int lane;
    epoch epoch;
    unsigned place, kind;
    uint16_t number;    /* of the mbarrier, if the agent is BY_BARRIER */
    bool reads, writes; /* an atomic does both */
    bool changes;       /* false for an atomic that leaves the word as it is */
    uint32_t used;      /* of the access's bytes: see check_used_bytes() */
    uint64_t address;   /* of the granule */
    const void *before; /* the lane's bytes in the granule, before and after; */
    const void *after;  /* NULL: unknown, or not a plain store */
};

/* race_pair.c: checks and records one lane's access, granule by granule. The lane's bytes are at
 * host + address. */
void race_lane_access(struct lane_access *, uint64_t address, unsigned bytes, uint64_t host);

enum { LARGEST = 32 }; /* bytes of one lane's access */

/* The bytes that a lane stores, in memory order; NULL: the instruction is not a plain store. */
static inline const uint8_t *stored_value(const struct warp *w, const struct insn *i, int lane,
                                          uint8_t *value)
{
    if (i->tally != TALLY_STORE) return NULL;
    for (unsigned k = 0; k < i->elements; k++)
        memcpy(value + (size_t)k * i->element_bytes,
               (const uint8_t *)slot_at(w, i->memory.value[k]) + (size_t)lane * i->lane_bytes,
               i->element_bytes);
    return value;
}

/* Does it store the value that is in memory already? */
static inline bool stores_same(const struct lane_access *t)
{
    return t->after &&
           !memcmp(t->before, t->after, (unsigned)__builtin_popcount(epoch_bytes(t->epoch)));
}

/* race_update.c, if the kernel has flags: keeps a read; checks a store. */
void race_note_read(const struct lane_access *, const struct granule *);
void race_check_update(const struct lane_access *, const struct granule *);

/* race_exit.c: keeps a use of another block's shared memory, at an offset. */
void race_note_remote(const struct lane_access *, uint64_t offset);

/* race_earlier.c: how many stores earlier a strong read would have served as well. */
unsigned race_stores_back(const struct lane_access *, struct sync_table *, uint64_t address,
                          uint64_t host);

#endif
