/*
 * access.h — one lane's access of one granule. race_race.c splits a warp's access into these;
 * race.c compares each with the earlier accesses. plain.c does both for most accesses, in
 * fewer steps.
 */
#ifndef EMU_RACE_ACCESS_H
#define EMU_RACE_ACCESS_H

#include "race.h"
#include <string.h>

struct lane_access {
    struct warp *w;
    const struct insn *insn;
    enum ptx_space space;
    struct race_block *owner; /* of the shared memory that is accessed */
    int lane;
    const struct record_layout *layout;
    record common; /* the lane's record without thread and bytes: equal for all lanes */
    record record;
    unsigned place, kind;
    uint16_t number;             /* of the mbarrier, if the agent is BY_BARRIER */
    bool reads, writes;          /* an atomic does both */
    struct stored_values stored; /* as in struct access */
    bool changes;                /* false for an atomic that leaves the word as it is */
    uint32_t used;               /* of the access's bytes: see check_used_bytes() */
    uint64_t address;            /* of the granule */
    const void *before;          /* the lane's bytes in the granule, before and after; */
    const void *after;           /* NULL: unknown, or not a plain store */
};

/* race.c: checks and records one lane's access, granule by granule. The lane's bytes are at
 * host + address. */
void race_lane_access(struct lane_access *, uint64_t address, unsigned bytes, uint64_t host);

/* race_race.c: a warp's access, each lane's by its own thread. matrix.c: one of rows of matrices.
 * */
void race_threads_access(struct warp *, const struct insn *, const struct access *);
void race_matrix_access(struct warp *, const struct insn *, const struct access *rows);

/* The page of the shadow that belongs to an address. NULL: out of memory. */
static inline struct shadow_page *race_page_at(const struct lane_access *t, uint64_t address)
{
    if (t->space == PTX_SHARED) return &t->owner->shared;
    return shadow_page_at(&t->owner->device->shadow, address);
}
/* The index in its page of the granule with a number, its address / GRANULE. All shared memory of a
 * block is one page. */
static inline size_t race_index_mask(enum ptx_space space)
{
    return space == PTX_SHARED ? SIZE_MAX : PAGE_GRANULES - 1;
}

/* plain.c: is it a plain load or store, of global memory or of the warp's own shared memory?
 * Checks and records such an access of some lanes. */
bool race_is_plain(const struct lane_access *, const struct access *);
void race_plain_access(struct lane_access *, const struct access *, uint32_t lanes);

enum { LARGEST = 32 }; /* bytes of one lane's access */

/* The record of a lane's access of some bytes of a granule. */
static inline record lane_record(const struct lane_access *t, unsigned bytes)
{
    unsigned thread =
        agent_of(t->kind) == BY_BARRIER ? t->number : t->w->index * WARP + (unsigned)t->lane;
    return t->common | (record)thread << THREAD_AT | bytes;
}

/* The bytes that a lane stores, in memory order; NULL: they are unknown, or it does not store. */
static inline const uint8_t *stored_value(const struct warp *w, const struct insn *i,
                                          struct stored_values stored, int lane, uint8_t *value)
{
    if (stored.first) return (const uint8_t *)stored.first + (size_t)lane * stored.stride;
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
           !memcmp(t->before, t->after, (unsigned)__builtin_popcount(record_bytes(t->record)));
}

/* update.c, if the kernel has flags: keeps a read; checks a store. */
void race_note_read(const struct lane_access *, const struct granule *);
void race_check_update(const struct lane_access *, const struct granule *);

/* value_first.c: the lane's recent reads that may be values of the flag that it loads now, as
 * bits; and after it has acquired the flag's clock: checks these reads. */
unsigned race_values_before(const struct lane_access *);
void race_check_values(const struct lane_access *, unsigned values);

/* exit.c: keeps a use of another block's shared memory, at an offset. */
void race_note_remote(const struct lane_access *, uint64_t offset);

/* earlier.c: how many stores earlier a strong read would have served as well. */
unsigned race_stores_back(const struct lane_access *, struct sync_table *, uint64_t address,
                          uint64_t host);

#endif
