/*
 * race.c — racecheck: compares an access with the earlier accesses of the same granule,
 * reports a hazard if nothing orders them, and keeps the access in the granule.
 */
#include "access.h"
#include <string.h>

/* Are both accesses synchronisation accesses, which may be concurrent without a hazard? Two atomics
 * are, and so are volatile or relaxed accesses of a flag. Volatile accesses of shared memory within
 * one warp are not: old programs use them and rely on lanes that run in step, which no GPU since
 * Volta guarantees. */
static bool are_both_sync(unsigned a, unsigned b, bool same_block, bool same_warp, bool shared)
{
    if (((a | b) & KIND_NARROW) && !same_block) return false;
    a &= KIND_MASK;
    b &= KIND_MASK;
    if (a == KIND_WEAK || b == KIND_WEAK) return false;
    return !(shared && same_warp && a == KIND_VOLATILE && b == KIND_VOLATILE);
}

/* The bytes that an access reads or writes at once; 0: unknown. Each element of a vector counts as
 * an access (PTX ISA, "vector data-types"). */
static unsigned bytes_at_once(const struct lane_access *t, unsigned place)
{
    const struct insn *i = &t->w->block->launch->kernel->code[place];
    if (place == UNKNOWN_PLACE) return 0;
    if (i->family == FAMILY_ATOMIC) return i->element_bytes;
    if (i->family != FAMILY_MEMORY) return 0;
    bool is_vector = i->source->operands[i->tally == TALLY_STORE].kind == PTX_VECTOR;
    return is_vector ? i->element_bytes : (unsigned)i->element_bytes * i->elements;
}

/* Accesses of different sizes do not overlap completely, so they are not morally strong (PTX ISA,
 * "overlap"). cuda::atomic_ref changes 1 or 2 bytes by an atomicCAS on the word around them. */
static bool are_mixed(const struct lane_access *t, record other)
{
    unsigned mine = bytes_at_once(t, t->place),
             bytes = bytes_at_once(t, race_place_of(t->owner->device, other));
    bool any_atomic = t->writes && t->reads, may_be_part = mine <= GRANULE && bytes <= GRANULE;
    any_atomic = any_atomic || (record_kind(other) & KIND_MASK) == KIND_ATOMIC;
    return mine && bytes && mine != bytes && !(any_atomic && may_be_part);
}

static bool is_atomic(const struct granule *g, int which)
{
    return (granule_kind(g, which) & KIND_MASK) == KIND_ATOMIC;
}

static bool is_same_block(const struct lane_access *t, record a, record b)
{
    return !((a ^ b) & t->layout->block_mask);
}

/* Does the last write, or a read, of a copy happen before this access? */
static bool is_after_copy(const struct lane_access *t, const struct granule *g, int which)
{
    record v = g->access[which];
    bool wrote = which == LAST_WRITE || is_atomic(g, which);
    enum agent agent = agent_of(granule_kind(g, which));
    unsigned first = agent == BY_BARRIER ? BARRIER_KEY
                     : agent == BY_COPY  ? COPY_KEY
                     : wrote             ? BULK_KEY
                                         : BULK_READ_KEY;
    return lane_is_after_copy(t->w, t->lane, v, first + record_thread(v));
}

static inline bool is_after(const struct lane_access *t, const struct granule *g, int which)
{
    if (agent_of(granule_kind(g, which)) != BY_THREAD) return is_after_copy(t, g, which);
    return lane_is_after(t->w, t->lane, g->access[which]);
}

static bool is_sync_pair(const struct lane_access *t, const struct granule *g, int which)
{
    record other = g->access[which];
    bool same_block = is_same_block(t, other, t->record);
    bool same_warp = same_block && record_thread(other) / WARP == t->w->index;
    return are_both_sync(granule_kind(g, which), t->kind, same_block, same_warp,
                         t->space == PTX_SHARED);
}

/* The last write is a strong one. Has a strong read observed it that happens before this access, or
 * that is the lane's own? Then the write happens before this access as well (PTX ISA, "causality
 * order"). */
static bool was_observed(const struct lane_access *t, const struct granule *g)
{
    unsigned kind = granule_kind(g, LAST_WRITE);
    for (int which = READ; which <= OTHER_READ; which++)
        if (record_bytes(g->access[which]) == record_bytes(g->access[LAST_WRITE]) &&
            are_both_sync(kind, granule_kind(g, which),
                          is_same_block(t, g->access[LAST_WRITE], g->access[which]), false,
                          false) &&
            is_after(t, g, which))
            return true;
    return false;
}

/* Volatile and relaxed accesses are no hazard to each other, and they order nothing. A thread that
 * has observed a store through another such access, without a fence or a lock that orders it,
 * relies on an order that is not guaranteed. A thread that polls is the exception. */
static bool counts_on_order(const struct lane_access *t, const struct granule *g, int which,
                            enum hazard *hazard)
{
    struct race *race = t->w->block->racecheck->device;
    unsigned other = granule_kind(g, which), store = t->writes ? t->kind : other;
    if (!race->tracks_observed || (store & KIND_MASK) == KIND_ATOMIC ||
        *hazard == WRITE_AFTER_WRITE || ((t->kind | other) >> AGENT_AT) != BY_THREAD)
        return false;
    unsigned load = t->writes ? race_place_of(race, g->access[which]) : t->place;
    if (race_tries_again(race, t->w->block->launch->kernel, load) ||
        !lane_is_fenced(t->w, t->lane, OBSERVED, g->access[which]) ||
        (!t->writes && was_observed(t, g)))
        return false;
    *hazard = t->writes ? UNFENCED_WRITE : UNFENCED_READ;
    return true;
}

/* With strict readers: only a fence is missing behind a read. */
static bool is_kept_for_fence(const struct lane_access *t, record v)
{
    return t->owner->device->strict_readers && (lane_is_fenced(t->w, t->lane, READ_BLOCK, v) ||
                                                lane_is_fenced(t->w, t->lane, READ_DEVICE, v));
}

static void check_pair(const struct lane_access *t, const struct granule *g, int which,
                       enum hazard hazard)
{
    record other = g->access[which];
    unsigned both = record_bytes(other) & record_bytes(t->record);
    if (!both || is_after(t, g, which)) return;
    bool is_sync = is_sync_pair(t, g, which), is_mixed = is_sync && are_mixed(t, other);
    if (is_sync && !is_mixed ? !counts_on_order(t, g, which, &hazard)
                             : which == LAST_WRITE && was_observed(t, g))
        return;
    /* Threads that store the same value to a flag do no harm: the last store does not matter. */
    if (hazard == WRITE_AFTER_WRITE && stores_same(t)) return;
    race_report(t->w, t->insn, t->lane,
                &(struct conflict){.hazard = hazard,
                                   .agent = agent_of(t->kind),
                                   .before = other,
                                   .before_agent = agent_of(granule_kind(g, which)),
                                   .before_place = race_place_of(t->owner->device, other),
                                   .is_mixed = is_mixed,
                                   .reader_unfenced = is_kept_for_fence(t, other),
                                   .space = t->space,
                                   .address = t->address + (unsigned)__builtin_ctz(both)});
}

/* A bulk copy reads shared memory: are the stores of threads visible to it? */
static void check_visible_to_copy(const struct lane_access *t, const struct granule *g)
{
    record v = g->access[LAST_WRITE];
    unsigned both = record_bytes(v) & record_bytes(t->record);
    if (both && agent_of(granule_kind(g, LAST_WRITE)) == BY_THREAD && is_after(t, g, LAST_WRITE) &&
        !lane_is_fenced(t->w, t->lane, FOR_COPIES, v))
        race_report(t->w, t->insn, t->lane,
                    &(struct conflict){.hazard = UNSEEN_BY_COPY,
                                       .agent = agent_of(t->kind),
                                       .before = v,
                                       .before_place = race_place_of(t->owner->device, v),
                                       .space = t->space,
                                       .address = t->address + (unsigned)__builtin_ctz(both)});
}

static bool is_over(const struct lane_access *t, const struct granule *g, int which)
{
    return !record_bytes(g->access[which]) || is_after(t, g, which);
}

/* A granule keeps two of its reads, in different warps or blocks if there are any. A thread that
 * writes without a barrier is a different thread from at least one of the two readers. */
static void keep_read(const struct lane_access *t, struct granule *g)
{
    int which;
    if (is_over(t, g, READ))
        which = READ;
    else if (is_over(t, g, OTHER_READ) ||
             is_farther(t->layout, t->record, g->access[OTHER_READ], g->access[READ]))
        which = OTHER_READ;
    else
        return;
    g->access[which] = t->record;
}

/* Atomics of one word follow each other, and each has observed those before it. What happens after
 * the last one therefore happens after all of them (PTX ISA, "causality order"), and only the last
 * one is kept. This holds only if the code looks at the value that the atomic returns: otherwise
 * the atomic may as well have been the first. */
static bool supersedes(const struct lane_access *t, const struct granule *g, int which)
{
    return t->writes && is_atomic(g, which) &&
           record_bytes(g->access[which]) == record_bytes(t->record) && is_sync_pair(t, g, which) &&
           agent_of(granule_kind(g, which)) == BY_THREAD && agent_of(t->kind) == BY_THREAD &&
           race_compares(t->w->block->racecheck->device, t->w->block->launch->kernel, t->place);
}

/* Atomics are kept as reads: they do not replace a plain write before them (such as that of a
 * zero), and a later plain read is compared with them. */
static void record_read(const struct lane_access *t, struct granule *g)
{
    check_pair(t, g, LAST_WRITE, t->writes ? WRITE_AFTER_WRITE : READ_AFTER_WRITE);
    bool is_bulk = agent_of(t->kind) >= BY_BULK && t->insn->family != FAMILY_STORE_ASYNC;
    if (is_bulk && t->space == PTX_SHARED) check_visible_to_copy(t, g);
    for (int which = READ; which <= OTHER_READ; which++) {
        if (t->writes)
            check_pair(t, g, which, is_atomic(g, which) ? WRITE_AFTER_WRITE : WRITE_AFTER_READ);
        else if (is_atomic(g, which))
            check_pair(t, g, which, READ_AFTER_WRITE);
        if (supersedes(t, g, which)) g->access[which] = 0;
    }
    keep_read(t, g);
}

static void record_write(const struct lane_access *t, struct granule *g)
{
    check_pair(t, g, LAST_WRITE, WRITE_AFTER_WRITE);
    for (int which = READ; which <= OTHER_READ; which++) {
        if (!g->access[which]) continue;
        check_pair(t, g, which, is_atomic(g, which) ? WRITE_AFTER_WRITE : WRITE_AFTER_READ);
        g->access[which] = record_without(g->access[which], record_bytes(t->record));
    }
    g->access[LAST_WRITE] = record_of_write(t->layout, g->access[LAST_WRITE], t->record);
}

/* ---- a lane's access ------------------------------------------------------------------------- */

/* Checks and records. False: out of memory. */
static bool access_granule(const struct lane_access *t)
{
    struct race *race = t->owner->device;
    struct planes *planes = t->space == PTX_SHARED ? &t->owner->planes : &race->shadow.planes;
    struct shadow_page *page = race_page_at(t, t->address);
    size_t index = t->address / GRANULE & race_index_mask(t->space);
    if (!page) return false;
    bool is_kept = t->reads && record_equals(shadow_record(page, READ, index), t->record,
                                             t->layout->place_mask);
    if (is_kept && !race->has_flags) return true;
    struct granule g = shadow_granule(planes, page, index);
    if (race->has_flags) t->reads ? race_note_read(t, &g) : race_check_update(t, &g);
    if (is_kept) return true;
    if (t->reads)
        record_read(t, &g);
    else
        record_write(t, &g);
    return shadow_put(planes, page, index, &g);
}

void race_lane_access(struct lane_access *t, uint64_t address, unsigned bytes, uint64_t host)
{
    uint8_t value[LARGEST];
    const uint8_t *after = stored_value(t->w, t->insn, t->stored, t->lane, value);
    if (t->owner != t->w->block->racecheck) race_note_remote(t, address);
    for (uint64_t at = address, end = address + bytes; at < end;) {
        t->address = at / GRANULE * GRANULE;
        unsigned from = (unsigned)(at - t->address),
                 to = end - t->address < GRANULE ? (unsigned)(end - t->address) : GRANULE;
        unsigned accessed = ((1u << to) - (1u << from)) & (t->used >> (at - address) << from);
        t->record = lane_record(t, accessed);
        t->before = (const void *)(uintptr_t)(host + at);
        t->after = after ? after + (at - address) : NULL;
        if (accessed && !access_granule(t)) t->owner->device->off = true;
        at = t->address + GRANULE;
    }
}
