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
    struct race_block *owner; /* of shared memory */
    int lane;
    epoch epoch;
    unsigned place, kind;
    uint16_t number;    /* of the mbarrier of a copy BY_BARRIER */
    bool reads, writes; /* an atomic does both */
    bool changes;       /* no atomic that leaves the word as it is */
    uint32_t used;      /* of the access's bytes: see check_used_bytes() */
    uint64_t address;   /* of the granule */
    const void *before; /* the lane's bytes of the granule as they were, and will be: */
    const void *after;  /* NULL: not known, or no plain store */
};

/* race_pair.c: a lane's access, whose bytes are at host + address: each granule that they are
 * in. */
void race_lane_access(struct lane_access *, uint64_t address, unsigned bytes, uint64_t host);

enum { LARGEST = 32 }; /* bytes of one lane's access */

/* What a lane stores, in memory's order; NULL: that is no plain store. */
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

/* Does it store what is there? */
static inline bool stores_same(const struct lane_access *t)
{
    return t->after &&
           !memcmp(t->before, t->after, (unsigned)__builtin_popcount(epoch_bytes(t->epoch)));
}

/* race_update.c: before the two above, if the kernel has flags. */
void race_note_read(const struct lane_access *, const struct granule *);
void race_check_update(const struct lane_access *, const struct granule *);

/* race_exit.c: shared memory of another block, at an offset. */
void race_note_remote(const struct lane_access *, uint64_t offset);

/* race_earlier.c: by how many stores earlier would a lane's strong read have done as well? It takes
 * over what was handed on then. */
unsigned race_stores_back(const struct lane_access *, struct sync_table *, uint64_t address,
                          uint64_t host);

#endif
