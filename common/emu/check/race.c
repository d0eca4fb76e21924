/* race.c — racecheck: each access held against those before it. See race.h. */
#include "race_state.h"
#include "emu/machine/shared.h"
#include "emu/operations/warp_ops.h"
#include "watch.h"
#include <string.h>

/* ---- two accesses of one byte ---------------------------------------------------------------- */

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

/* One lane's access of one granule. */
struct touch {
    struct warp *w;
    const struct insn *insn;
    enum ptx_space space;
    struct race_block *owner; /* of shared memory */
    int lane;
    visit who;
    unsigned place, kind;
    bool reads, writes; /* an atomic does both */
    uint32_t used;      /* of the access's bytes: see watch_used_bytes() */
    uint64_t address;   /* of the granule */
    const void *before; /* the lane's bytes of the granule as they were, and will be: */
    const void *after;  /* NULL: not known, or no plain store */
};

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

static void check_pair(const struct touch *t, const struct granule *g, int which,
                       enum hazard hazard)
{
    visit other = g->who[which];
    unsigned both = visit_bytes(other) & visit_bytes(t->who);
    if (!both || knows(t, g, which)) return;
    bool same_block = visit_block(other) == visit_block(t->who);
    bool same_warp = same_block && visit_thread(other) / WARP == t->w->index;
    if (may_meet(granule_kind(g, which), t->kind, same_block, same_warp, t->space == PTX_SHARED))
        return;
    /* Several threads that set a flag to the same value do no harm, whoever is last. */
    if (hazard == WRITE_AFTER_WRITE && t->after &&
        !memcmp(t->before, t->after, (unsigned)__builtin_popcount(visit_bytes(t->who))))
        return;
    race_report(t->w, t->insn, t->lane, hazard, other, maker_of(granule_kind(g, which)),
                g->place[which], t->space, t->address + (unsigned)__builtin_ctz(both));
}

/* A bulk copy out of shared memory: does it see what threads have stored there? */
static void check_seen(const struct touch *t, const struct granule *g)
{
    visit v = g->who[LAST_WRITE];
    unsigned both = visit_bytes(v) & visit_bytes(t->who);
    if (both && maker_of(granule_kind(g, LAST_WRITE)) == BY_THREAD && knows(t, g, LAST_WRITE) &&
        !lane_is_fenced(t->w, t->lane, FOR_COPIES, v))
        race_report(t->w, t->insn, t->lane, UNSEEN_BY_COPY, v, BY_THREAD, g->place[LAST_WRITE],
                    t->space, t->address + (unsigned)__builtin_ctz(both));
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

/* Atomics are kept among the reads: so they hide no plain write before them, such as that of a
 * zero, and a plain read meets them there. */
static void touch_read(const struct touch *t, struct granule *g)
{
    if (g->who[READ] == t->who && granule_kind(g, READ) == t->kind) return; /* again */
    check_pair(t, g, LAST_WRITE, t->writes ? WRITE_AFTER_WRITE : READ_AFTER_WRITE);
    if (maker_of(t->kind) >= BY_BULK && t->space == PTX_SHARED) check_seen(t, g);
    for (int which = READ; which <= OTHER_READ; which++)
        if (t->writes)
            check_pair(t, g, which, is_atomic(g, which) ? WRITE_AFTER_WRITE : WRITE_AFTER_READ);
        else if (is_atomic(g, which))
            check_pair(t, g, which, READ_AFTER_WRITE);
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

/* ---- a warp's access ------------------------------------------------------------------------- */

enum { LARGEST = 32 }; /* bytes of one lane's access */

/* What a lane stores, in memory's order; NULL: that is no plain store. */
static const uint8_t *stored_value(const struct warp *w, const struct insn *i, int lane,
                                   uint8_t *value)
{
    if (i->tally != TALLY_STORE) return NULL;
    for (unsigned k = 0; k < i->elements; k++)
        memcpy(value + (size_t)k * i->element_bytes,
               (const uint8_t *)slot_at(w, i->v[k]) + (size_t)lane * i->lane_bytes,
               i->element_bytes);
    return value;
}

static bool overlaps(uint64_t a, uint64_t b, unsigned bytes)
{
    return a - b < bytes || b - a < bytes;
}

/* Lanes of one store that write the same bytes: a hazard unless the values are the same. One of
 * them is kept. */
static uint32_t without_duplicates(struct warp *w, const struct insn *i, uint32_t mask,
                                   const uint64_t *address, unsigned bytes, enum ptx_space space)
{
    uint32_t kept = 0;
    int last = -1;
    bool rising = true;
    for (uint32_t left = mask; left && rising; left &= left - 1) {
        int lane = __builtin_ctz(left);
        rising = last < 0 || address[lane] >= address[last] + bytes;
        last = lane;
    }
    if (rising) return mask;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        uint8_t mine[LARGEST], theirs[LARGEST];
        bool is_first = true;
        for (uint32_t others = kept; others; others &= others - 1) {
            int other = __builtin_ctz(others);
            if (!overlaps(address[lane], address[other], bytes)) continue;
            is_first = false;
            if (address[lane] == address[other] && stored_value(w, i, lane, mine) &&
                stored_value(w, i, other, theirs) && !memcmp(mine, theirs, bytes))
                continue;
            ptrdiff_t index = i - w->block->launch->kernel->code;
            visit them = visit_make(w->block->index, w->index * WARP + (unsigned)other, AT_ONCE, 1);
            race_report(w, i, lane, WRITE_AFTER_WRITE, them, BY_THREAD,
                        index < UNKNOWN_PLACE ? (unsigned)index : UNKNOWN_PLACE, space,
                        address[lane]);
        }
        if (is_first) kept |= UINT32_C(1) << lane;
    }
    return kept;
}

static struct granule *granule_at(const struct touch *t, uint64_t address)
{
    struct race *race = t->owner->race;
    if (t->space == PTX_SHARED) return &t->owner->shared[address / GRANULE];
    struct granule *g = shadow_at(&race->shadow, address);
    if (!g) race->off = true;
    return g;
}

/* One lane: each granule that its bytes are in. */
static void touch_lane(struct touch *t, uint64_t address, unsigned bytes, uint64_t host)
{
    uint8_t value[LARGEST];
    const struct race_block *race = t->w->block->race;
    const uint8_t *after = stored_value(t->w, t->insn, t->lane, value);
    unsigned thread = maker_of(t->kind) == BY_BARRIER ? race->copies.number
                                                      : t->w->index * WARP + (unsigned)t->lane;
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
        if (g && t->reads)
            touch_read(t, g);
        else if (g)
            touch_write(t, g);
        at = next;
    }
}

/* What a strong access of one lane takes over and hands on at each word that it touches. */
static void synchronise(struct touch *t, uint64_t address, unsigned bytes)
{
    struct sync_table *table = t->space == PTX_SHARED ? &t->owner->words : &t->owner->race->words;
    for (uint64_t word = address / GRANULE; word * GRANULE < address + bytes; word++) {
        if (t->reads) sync_acquire(t->w, t->lane, table, word + 1);
        if (t->writes) sync_release(t->w, t->lane, table, word + 1, !t->reads);
    }
}

/* `old = *p; do … while (atomicCAS(p, old, new) != old)`, as the CUDA guide writes it: the
 * plain load races with the atomics of others, but whatever it finds, the loop is right. So a
 * load is known by its place if its thread soon compares and swaps the same word: race_report.c
 * tells nothing of it. */
static void note_load(const struct touch *t, uint64_t address)
{
    struct recent_load *recent = state_of(t->w)->recent[t->lane];
    memmove(recent + 1, recent, (RECENT - 1) * sizeof *recent);
    recent[0] = (struct recent_load){address, t->place};
}

static void note_cas(const struct touch *t, uint64_t address)
{
    const struct recent_load *recent = state_of(t->w)->recent[t->lane];
    for (int k = 0; k < RECENT; k++)
        if (recent[k].address == address && recent[k].place != UNKNOWN_PLACE)
            t->w->block->race->race->leads_to_cas[recent[k].place] = true;
}

static bool is_off(const struct race_block *race)
{
    return race->race->off || race->now >= MAX_MOMENT;
}

static struct touch touch_of(struct warp *w, const struct insn *i, const char *operation,
                             enum ptx_space space, const struct block *owner)
{
    ptrdiff_t index = i - w->block->launch->kernel->code;
    return (struct touch){.w = w,
                          .insn = i,
                          .space = space,
                          .owner = owner->race,
                          .place = index < UNKNOWN_PLACE ? (unsigned)index : UNKNOWN_PLACE,
                          .reads = *operation != 's',
                          .writes = *operation != 'l',
                          .used = UINT32_MAX};
}

void race_mbarrier_use(struct warp *w, const struct insn *i, int lane,
                       const struct shared_place *place, const char *operation)
{
    if (is_off(w->block->race)) return;
    struct touch t = touch_of(w, i, operation, PTX_SHARED, place->owner);
    t.lane = lane;
    t.kind = *operation == 's' ? KIND_WEAK : KIND_ATOMIC;
    touch_lane(&t, place->offset, sizeof(uint64_t), (uint64_t)(uintptr_t)place->owner->shared);
}

void race_access(struct warp *w, const struct insn *i, uint32_t mask, const uint64_t *address,
                 unsigned bytes, const char *operation, enum ptx_space space, uint64_t host,
                 const struct block *owner)
{
    struct race_block *race = w->block->race;
    if (is_off(race)) return;
    struct touch t = touch_of(w, i, operation, space, owner);
    t.used = watch_used_bytes(i);
    t.kind = (i->order & ORDER_KIND) | (i->order & ORDER_BLOCK ? KIND_NARROW : 0) |
             (unsigned)race->copies.maker << MAKER_AT;
    if (i->order & ORDER_RELEASE)
        race_fence(w, mask, i->order & ORDER_BLOCK ? SCOPE_BLOCK : SCOPE_DEVICE);
    uint32_t lanes = mask;
    if (!t.reads) lanes = without_duplicates(w, i, mask, address, bytes, space);
    for (uint32_t left = lanes; left; left &= left - 1) {
        t.lane = __builtin_ctz(left);
        touch_lane(&t, address[t.lane], bytes, host);
        if (!race->race->has_cas) continue;
        if (i->tally == TALLY_LOAD) note_load(&t, address[t.lane]);
        if (i->tally == TALLY_ATOMIC && i->function == ATOMIC_CAS) note_cas(&t, address[t.lane]);
    }
    if ((i->order & ORDER_KIND) == KIND_WEAK || race->copies.maker != BY_THREAD) return;
    for (uint32_t left = mask; left; left &= left - 1) {
        t.lane = __builtin_ctz(left);
        synchronise(&t, address[t.lane], bytes);
    }
    if (race->race->space.out_of_memory) race->race->off = true;
}
