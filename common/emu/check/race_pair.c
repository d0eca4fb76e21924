/* race_pair.c — racecheck: two accesses of one byte, and what of them is kept. */
#include "race_access.h"
#include <string.h>

/* May two accesses that nothing orders meet, because both are made for it? Two atomics may, and
 * flags may that are volatile or relaxed. Not so volatile accesses of shared memory within one
 * warp: that is how programs were written that count on lanes in step, and no GPU since Volta
 * keeps them so. */
static bool may_meet(unsigned a, unsigned b, bool same_block, bool same_warp, bool shared)
{
    if (((a | b) & KIND_NARROW) && !same_block) return false;
    a &= KIND_MASK;
    b &= KIND_MASK;
    if (a == KIND_WEAK || b == KIND_WEAK) return false;
    return !(shared && same_warp && a == KIND_VOLATILE && b == KIND_VOLATILE);
}

static bool is_atomic(const struct granule *g, int which)
{
    return (granule_kind(g, which) & KIND_MASK) == KIND_ATOMIC;
}

/* Does the lane know that the last write, or a read, is over? */
static bool knows_copy(const struct touch *t, const struct granule *g, int which)
{
    visit v = g->who[which];
    bool wrote = which == LAST_WRITE || is_atomic(g, which);
    enum maker maker = maker_of(granule_kind(g, which));
    unsigned first = maker == BY_BARRIER ? BARRIER_KEY
                     : maker == BY_COPY  ? COPY_KEY
                     : wrote             ? BULK_KEY
                                         : BULK_READ_KEY;
    return lane_knows_copy(t->w, t->lane, v, first + visit_thread(v));
}

static inline bool knows(const struct touch *t, const struct granule *g, int which)
{
    if (maker_of(granule_kind(g, which)) != BY_THREAD) return knows_copy(t, g, which);
    return lane_knows(t->w, t->lane, g->who[which]);
}

static bool meet(const struct touch *t, const struct granule *g, int which)
{
    visit other = g->who[which];
    bool same_block = visit_block(other) == visit_block(t->who);
    bool same_warp = same_block && visit_thread(other) / WARP == t->w->index;
    return may_meet(granule_kind(g, which), t->kind, same_block, same_warp, t->space == PTX_SHARED);
}

/* Has a strong access that the lane knows of, or its own, read the last write, a strong one? Then
 * that comes before all that is in order behind the reader (PTX ISA, "causality order"). */
static bool was_seen(const struct touch *t, const struct granule *g)
{
    unsigned kind = granule_kind(g, LAST_WRITE);
    for (int which = READ; which <= OTHER_READ; which++)
        if (visit_bytes(g->who[which]) == visit_bytes(g->who[LAST_WRITE]) &&
            may_meet(kind, granule_kind(g, which),
                     visit_block(g->who[LAST_WRITE]) == visit_block(g->who[which]), false, false) &&
            knows(t, g, which))
            return true;
    return false;
}

/* Volatile and relaxed accesses race with nothing of their kind, and order nothing. If a thread has
 * heard of a store by another such access, but no fence or lock puts that in order, it counts on an
 * order that is not there; unless it polls. */
static bool counts_on_order(const struct touch *t, const struct granule *g, int which,
                            enum hazard *hazard)
{
    struct race *race = t->w->block->race->race;
    unsigned other = granule_kind(g, which), store = t->writes ? t->kind : other;
    if (!race->hears || (store & KIND_MASK) == KIND_ATOMIC || *hazard == WRITE_AFTER_WRITE ||
        ((t->kind | other) >> MAKER_AT) != BY_THREAD)
        return false;
    unsigned load = t->writes ? g->place[which] : t->place;
    if (race_tries_again(race, t->w->block->launch->kernel, load) ||
        !lane_is_fenced(t->w, t->lane, HEARD, g->who[which]) || (!t->writes && was_seen(t, g)))
        return false;
    *hazard = t->writes ? UNFENCED_WRITE : UNFENCED_READ;
    return true;
}

static void check_pair(const struct touch *t, const struct granule *g, int which,
                       enum hazard hazard)
{
    visit other = g->who[which];
    unsigned both = visit_bytes(other) & visit_bytes(t->who);
    if (!both || knows(t, g, which)) return;
    if (meet(t, g, which) ? !counts_on_order(t, g, which, &hazard)
                          : which == LAST_WRITE && was_seen(t, g))
        return;
    /* Several threads that set a flag to the same value do no harm, whoever is last. */
    if (hazard == WRITE_AFTER_WRITE && stores_same(t)) return;
    race_report(t->w, t->insn, t->lane,
                &(struct conflict){.hazard = hazard,
                                   .maker = maker_of(t->kind),
                                   .before = other,
                                   .before_maker = maker_of(granule_kind(g, which)),
                                   .before_place = g->place[which],
                                   .space = t->space,
                                   .address = t->address + (unsigned)__builtin_ctz(both)});
}

/* A bulk copy out of shared memory: does it see what threads have stored there? */
static void check_seen(const struct touch *t, const struct granule *g)
{
    visit v = g->who[LAST_WRITE];
    unsigned both = visit_bytes(v) & visit_bytes(t->who);
    if (both && maker_of(granule_kind(g, LAST_WRITE)) == BY_THREAD && knows(t, g, LAST_WRITE) &&
        !lane_is_fenced(t->w, t->lane, FOR_COPIES, v))
        race_report(t->w, t->insn, t->lane,
                    &(struct conflict){.hazard = UNSEEN_BY_COPY,
                                       .maker = maker_of(t->kind),
                                       .before = v,
                                       .before_place = g->place[LAST_WRITE],
                                       .space = t->space,
                                       .address = t->address + (unsigned)__builtin_ctz(both)});
}

static unsigned distance(visit a, visit b)
{
    return visit_block(a) != visit_block(b)                   ? 3
           : visit_thread(a) / WARP != visit_thread(b) / WARP ? 2
                                                              : visit_thread(a) != visit_thread(b);
}

static bool is_over(const struct touch *t, const struct granule *g, int which)
{
    return !visit_bytes(g->who[which]) || knows(t, g, which);
}

/* Of many readers two are kept, in different warps or blocks if there are such: whoever writes
 * without a barrier is another thread than one of them. */
static void keep_read(const struct touch *t, struct granule *g)
{
    int which;
    if (is_over(t, g, READ))
        which = READ;
    else if (is_over(t, g, OTHER_READ) ||
             distance(t->who, g->who[READ]) >= distance(g->who[OTHER_READ], g->who[READ]))
        which = OTHER_READ;
    else
        return;
    granule_set(g, which, t->who, t->place, t->kind);
}

/* Atomics of one word come one after the other, each having seen those before it: what is in order
 * behind the last of them is so behind all (PTX ISA, "causality order"). So that one is kept; but
 * only if the code looks at what it has seen, for otherwise it might as well have come first. */
static bool hides(const struct touch *t, const struct granule *g, int which)
{
    return t->writes && is_atomic(g, which) && visit_bytes(g->who[which]) == visit_bytes(t->who) &&
           meet(t, g, which) && maker_of(granule_kind(g, which)) == BY_THREAD &&
           maker_of(t->kind) == BY_THREAD &&
           race_compares(t->w->block->race->race, t->w->block->launch->kernel, t->place);
}

/* Atomics are kept among the reads: so they hide no plain write before them, such as that of a
 * zero, and a plain read meets them there. */
static void touch_read(const struct touch *t, struct granule *g)
{
    if (g->who[READ] == t->who && granule_kind(g, READ) == t->kind) return; /* again */
    check_pair(t, g, LAST_WRITE, t->writes ? WRITE_AFTER_WRITE : READ_AFTER_WRITE);
    if (maker_of(t->kind) >= BY_BULK && t->space == PTX_SHARED) check_seen(t, g);
    for (int which = READ; which <= OTHER_READ; which++) {
        if (t->writes)
            check_pair(t, g, which, is_atomic(g, which) ? WRITE_AFTER_WRITE : WRITE_AFTER_READ);
        else if (is_atomic(g, which))
            check_pair(t, g, which, READ_AFTER_WRITE);
        if (hides(t, g, which)) g->who[which] = 0;
    }
    keep_read(t, g);
}

static void touch_write(const struct touch *t, struct granule *g)
{
    check_pair(t, g, LAST_WRITE, WRITE_AFTER_WRITE);
    unsigned bytes = visit_bytes(t->who);
    for (int which = READ; which <= OTHER_READ; which++) {
        if (!visit_bytes(g->who[which])) continue;
        check_pair(t, g, which, is_atomic(g, which) ? WRITE_AFTER_WRITE : WRITE_AFTER_READ);
        g->who[which] &= ~((visit)bytes << VISIT_BYTES_AT);
    }
    /* By this thread in the same moment: bytes add up. */
    bool adds = visit_is_same(g->who[LAST_WRITE], t->who) &&
                maker_of(granule_kind(g, LAST_WRITE)) == maker_of(t->kind);
    granule_set(g, LAST_WRITE, adds ? t->who | g->who[LAST_WRITE] : t->who, t->place, t->kind);
}

/* ---- a lane's access ------------------------------------------------------------------------- */

static struct granule *granule_at(const struct touch *t, uint64_t address)
{
    struct race *race = t->owner->race;
    if (t->space == PTX_SHARED) return &t->owner->shared[address / GRANULE];
    struct granule *g = shadow_at(&race->shadow, address);
    if (!g) race->off = true;
    return g;
}

void touch_lane(struct touch *t, uint64_t address, unsigned bytes, uint64_t host)
{
    uint8_t value[LARGEST];
    const struct race_block *race = t->w->block->race;
    const uint8_t *after = stored_value(t->w, t->insn, t->lane, value);
    if (t->owner != race) touch_remote(t, address);
    unsigned thread =
        maker_of(t->kind) == BY_BARRIER ? t->number : t->w->index * WARP + (unsigned)t->lane;
    for (uint64_t at = address, end = address + bytes; at < end;) {
        t->address = at / GRANULE * GRANULE;
        unsigned from = (unsigned)(at - t->address),
                 to = end - t->address < GRANULE ? (unsigned)(end - t->address) : GRANULE;
        unsigned touched = ((1u << to) - (1u << from)) & (t->used >> (at - address) << from);
        uint64_t next = t->address + GRANULE;
        struct granule *g = touched ? granule_at(t, t->address) : NULL;
        t->who = visit_make(t->w->block->index, thread, race->now, touched);
        t->before = (const void *)(uintptr_t)(host + at);
        t->after = after ? after + (at - address) : NULL;
        if (g && race->race->has_flags) t->reads ? touch_note(t, g) : touch_check_update(t, g);
        if (g && t->reads)
            touch_read(t, g);
        else if (g)
            touch_write(t, g);
        at = next;
    }
}
