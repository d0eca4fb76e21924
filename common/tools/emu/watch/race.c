/* race.c — racecheck: an access is split into lanes, compared with earlier ones, and kept. */
#include "race.h"

/* ---- two accesses of a granule --------------------------------------------------------------- */

/* Compares an access with the earlier accesses of the same granule,
 * reports a hazard if nothing orders them, and keeps the access in the granule. */

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

/* Is one of them a load that takes memory for constant (ld.nc, textures)? Its value may come from a
 * cache that sees no store, and nvcc may load it earlier, before a barrier. So no order helps. Only
 * a thread's own store after the last such load does no harm. */
static bool breaks_constant(const struct lane_access *t, record other, enum hazard *hazard)
{
    bool loads = *hazard == READ_AFTER_WRITE;
    record other_thread = (other ^ t->record) & (t->layout->block_mask | RECORD_THREAD);
    if (!record_is_constant(loads ? t->record : other) || (!loads && !other_thread)) return false;
    *hazard = loads ? CONSTANT_WRITTEN : WRITTEN_CONSTANT;
    return true;
}

/* Does an order or a rule allow the two? */
static bool is_allowed(const struct lane_access *t, const struct granule *g, int which,
                       enum hazard *hazard, bool *is_mixed)
{
    if (is_after(t, g, which)) return true;
    bool is_sync = is_sync_pair(t, g, which);
    *is_mixed = is_sync && are_mixed(t, g->access[which]);
    if (is_sync && !*is_mixed ? !counts_on_order(t, g, which, hazard)
                              : which == LAST_WRITE && was_observed(t, g))
        return true;
    /* Threads that store the same value to a flag do no harm: the last store does not matter. */
    return *hazard == WRITE_AFTER_WRITE && stores_same(t);
}

static void check_pair(const struct lane_access *t, const struct granule *g, int which,
                       enum hazard hazard)
{
    record other = g->access[which];
    unsigned both = record_bytes(other) & record_bytes(t->record);
    bool is_mixed = false;
    if (!both ||
        (!breaks_constant(t, other, &hazard) && is_allowed(t, g, which, &hazard, &is_mixed)))
        return;
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

/* A bulk copy reads memory, or writes global memory: are the stores of threads visible to it? */
static void check_visible_to_copy(const struct lane_access *t, const struct granule *g)
{
    enum fence fence = t->space == PTX_SHARED ? FOR_COPIES : FOR_GLOBAL_COPIES;
    if (agent_of(t->kind) < BY_BULK || t->insn->family == FAMILY_STORE_ASYNC) return;
    for (int which = LAST_WRITE; which < RECORDS; which++) {
        record v = g->access[which];
        unsigned both = record_bytes(v) & record_bytes(t->record);
        bool by_thread = agent_of(record_kind(v)) == BY_THREAD;
        if (both && by_thread && (which == LAST_WRITE || is_atomic(g, which)) &&
            is_after(t, g, which) && !lane_is_fenced(t->w, t->lane, fence, v))
            race_report(t->w, t->insn, t->lane,
                        &(struct conflict){.hazard = t->reads ? UNSEEN_BY_COPY : UNSEEN_UNDER_COPY,
                                           .agent = agent_of(t->kind),
                                           .before = v,
                                           .before_place = race_place_of(t->owner->device, v),
                                           .space = t->space,
                                           .address = t->address + (unsigned)__builtin_ctz(both)});
    }
}

/* May a later access replace it? A load that takes memory for constant stays, as a READ. */
static bool is_over(const struct lane_access *t, const struct granule *g, int which)
{
    record v = g->access[which], thread = t->layout->block_mask | RECORD_THREAD;
    if (which == READ && record_is_constant(v) &&
        (t->kind != KIND_CONSTANT || (v ^ t->record) & thread))
        return false;
    return !record_bytes(v) || is_after(t, g, which);
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
    check_visible_to_copy(t, g);
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
    if (t->space == PTX_GLOBAL) check_visible_to_copy(t, g);
    for (int which = READ; which <= OTHER_READ; which++) {
        if (!g->access[which]) continue;
        check_pair(t, g, which, is_atomic(g, which) ? WRITE_AFTER_WRITE : WRITE_AFTER_READ);
        g->access[which] = record_without(g->access[which], record_bytes(t->record));
    }
    g->access[LAST_WRITE] = record_of_write(t->layout, g->access[LAST_WRITE], t->record);
}

/* ---- a lane's access ------------------------------------------------------------------------- */

/* Checks and records. */
static void access_granule(const struct lane_access *t)
{
    struct race *race = t->owner->device;
    struct planes *planes = t->space == PTX_SHARED ? &t->owner->planes : &race->shadow.planes;
    struct shadow_page *page = race_page_at(t, t->address);
    if (race->early && t->space == PTX_GLOBAL) race_early_access(t);
    size_t index = t->address / GRANULE & race_index_mask(t->space);
    bool is_kept = t->reads && record_equals(shadow_record(page, READ, index), t->record,
                                             t->layout->place_mask);
    if (is_kept && !race->has_flags) return;
    struct granule g = shadow_granule(planes, page, index);
    if (race->has_flags) t->reads ? race_note_read(t, &g) : race_check_update(t, &g);
    if (is_kept) return;
    if (t->reads)
        record_read(t, &g);
    else
        record_write(t, &g);
    shadow_put(planes, page, index, &g);
}

/* Checks and records one lane's access, granule by granule. The lane's bytes: host + address. */
static void race_lane_access(struct lane_access *t, uint64_t address, unsigned bytes, uint64_t host)
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
        if (accessed) access_granule(t);
        at = t->address + GRANULE;
    }
}

/* ---- plain accesses, in few steps ------------------------------------------------------------ */

/* Plain loads and stores of a warp, nearly all accesses of most kernels, in few steps.
 *
 * Nothing is decided here that race_lane_access() would decide otherwise. An access takes the short
 * way if the bits of the granule's records tell that each earlier access that matters happens
 * before it: by a barrier of the block or of the warp, or because the same thread made it. Then
 * there is no hazard, and only the records change. Every other access is left to
 * race_lane_access(), such as one that is ordered by a vector clock. */

/* The records that happen before each of a warp's lanes: those of the block until the time of its
 * last barrier, and those of the warp until the time of its own. Records before `end` have an
 * earlier time, since the time is in their highest bits. */
struct barrier_passed {
    record same, of, end; /* the bits `same` of a record must be those of `of` */
};

/* What the lanes of an access have in common. */
struct plain {
    const struct record_layout *layout;
    struct barrier_passed block, warp;
    record first;       /* of lane 0, if it accesses no bytes */
    record same_thread; /* these bits are equal in two accesses of one thread */
    /* The lanes' clocks hold no more than these barriers. So if the bits of a record by a thread do
     * not tell that it happens before this access, it does not. */
    bool no_clocks;
    bool is_constant; /* it takes memory for constant */
    size_t index_mask;
    struct planes *planes; /* of the shadow that is accessed */
};

static struct barrier_passed passed(const struct lane_access *t, record first, record same,
                                    timestamp until)
{
    record mask = same | t->layout->block_mask | RECORD_AGENT;
    return (struct barrier_passed){mask, first & mask, (record)(until + 1) << t->layout->time_at};
}

static struct plain plain_of(const struct lane_access *t, uint32_t lanes)
{
    bool is_shared = t->space == PTX_SHARED;
    const struct race_block *race = t->w->block->racecheck;
    const struct race_warp *state = state_of(t->w);
    record first = t->common | (record)(t->w->index * WARP) << THREAD_AT;
    return (struct plain){.layout = t->layout,
                          .first = first,
                          .block = passed(t, first, 0, race->base),
                          .warp = passed(t, first, RECORD_WARP, state->base),
                          .same_thread = t->layout->block_mask | RECORD_THREAD | RECORD_AGENT,
                          .no_clocks = !race->common && !(state->has_acquired & lanes),
                          .is_constant = t->kind == KIND_CONSTANT,
                          .index_mask = race_index_mask(t->space),
                          .planes =
                              is_shared ? &t->owner->planes : &t->owner->device->shadow.planes};
}

static inline bool is_before(const struct barrier_passed *passed, record v)
{
    return !((v ^ passed->of) & passed->same) && v < passed->end;
}

/* There was no such access, or it happens before the access `mine`. */
__attribute__((always_inline)) static inline bool is_known_over(const struct plain *p, record v,
                                                                record mine)
{
    return !v || is_before(&p->block, v) || !((v ^ mine) & p->same_thread) ||
           is_before(&p->warp, v);
}

static inline bool is_by_atomic(record v) { return (record_kind(v) & KIND_MASK) == KIND_ATOMIC; }

static inline bool is_by_thread(record v) { return !(v & RECORD_AGENT); }

/* Does an earlier access of the same bytes not happen before the access `mine`, as far as the bits
 * tell? */
__attribute__((always_inline)) static inline bool may_conflict(const struct plain *p, record v,
                                                               record mine)
{
    return record_bytes(v & mine) && !is_known_over(p, v, mine);
}

/* Has another thread read these bytes by a load that takes memory for constant? */
__attribute__((always_inline)) static inline bool is_others_constant(const struct plain *p,
                                                                     record v, record mine)
{
    return record_is_constant(v) && record_bytes(v & mine) && (v ^ mine) & p->same_thread;
}

/* As in is_over(): does a load stay in the record? */
__attribute__((always_inline)) static inline bool stays(const struct plain *p, record read,
                                                        record mine)
{
    return record_is_constant(read) && (!p->is_constant || (read ^ mine) & p->same_thread);
}

/* ---- one granule ----------------------------------------------------------------------------- */

/* Keeps a load in a granule with a load by another thread, as keep_read(). */
static inline bool keep_other(const struct plain *p, struct shadow_page *page, size_t k,
                              record other, record mine)
{
    record read = page->plane[READ][k], *others = page->plane[OTHER_READ];
    if (!p->no_clocks || is_by_atomic(read) || !is_by_thread(read) || !is_by_thread(other))
        return false;
    if (!is_known_over(p, other, mine) && !is_farther(p->layout, mine, other, read)) return true;
    if (others)
        others[k] = mine;
    else
        shadow_put_other(p->planes, page, k, mine);
    return true;
}

/* As access_granule() for a load. False: the load is left to it. Unless `has_other`,
 * the page had no second reads when the instruction began. */
__attribute__((always_inline)) static inline bool
load_granule(const struct plain *p, struct shadow_page *page, size_t k, record mine, bool has_other)
{
    record *read = &page->plane[READ][k], other = 0;
    if (has_other) other = shadow_other(p->planes, page, k);
    if (record_equals(*read, mine, p->layout->place_mask)) return true;
    if (may_conflict(p, shadow_record(page, LAST_WRITE, k), mine) ||
        (is_by_atomic(other) && !is_known_over(p, other, mine)))
        return false;
    if (p->is_constant && (record_bytes(shadow_record(page, LAST_WRITE, k) & mine) ||
                           is_by_atomic(*read) || is_by_atomic(other)))
        return false;
    if (!is_known_over(p, *read, mine) || stays(p, *read, mine))
        return has_other && keep_other(p, page, k, other, mine);
    *read = mine;
    return true;
}

static inline void forget_bytes(record *plane, size_t k, unsigned bytes)
{
    if (plane) plane[k] = record_without(plane[k], bytes);
}

static inline void forget_other(struct shadow_page *page, size_t k, unsigned bytes)
{
    if (page->short_reads)
        page->short_reads[k] = short_record_without(page->short_reads[k], bytes);
    else
        forget_bytes(page->plane[OTHER_READ], k, bytes);
}

/* As access_granule() for a store. False: the store is left to it. */
__attribute__((always_inline)) static inline bool store_granule(const struct plain *p,
                                                                struct shadow_page *page, size_t k,
                                                                record mine, bool has_other)
{
    record *write = &page->plane[LAST_WRITE][k];
    record read = shadow_record(page, READ, k),
           other = has_other ? shadow_other(p->planes, page, k) : 0;
    if (may_conflict(p, *write, mine) || may_conflict(p, read, mine) ||
        may_conflict(p, other, mine) || is_others_constant(p, read, mine) ||
        is_others_constant(p, other, mine))
        return false;
    forget_bytes(page->plane[READ], k, record_bytes(mine));
    if (has_other) forget_other(page, k, record_bytes(mine));
    *write = record_of_write(p->layout, *write, mine);
    return true;
}

/* ---- a warp ---------------------------------------------------------------------------------- */

/* The first lanes of `lanes`, up to one that accesses another page than the first lane. */
static uint32_t lanes_of_page(const struct lane_access *t, const struct access *access,
                              uint32_t lanes)
{
    uint64_t page = access->address[__builtin_ctz(lanes)] >> PAGE_BITS;
    uint32_t left = lanes;
    if (t->space == PTX_SHARED) return lanes;
    while (left && access->address[__builtin_ctz(left)] >> PAGE_BITS == page) left &= left - 1;
    return lanes ^ left;
}

/* The accessed bytes of a lane's first granule. */
static inline unsigned bytes_at(uint64_t address, unsigned bytes)
{
    return bytes < GRANULE ? ((1u << bytes) - 1) << address % GRANULE : RECORD_BYTES;
}

/* The accesses of some lanes in one page. An access is aligned, so it is a part of one granule or
 * it is some whole granules. */
__attribute__((always_inline)) static inline void
access_lanes(const struct plain *p, struct lane_access *t, const struct access *access,
             struct shadow_page *page, uint32_t lanes, bool has_other)
{
    const bool reads = t->reads;
    const unsigned bytes = access->bytes;
    for (; lanes; lanes &= lanes - 1) {
        t->lane = __builtin_ctz(lanes);
        uint64_t address = access->address[t->lane], end = (address + bytes - 1) / GRANULE;
        record mine = p->first | (record)t->lane << THREAD_AT | bytes_at(address, bytes);
        bool done = true;
        for (uint64_t number = address / GRANULE; number <= end && done; number++) {
            size_t k = number & p->index_mask;
            done = reads ? load_granule(p, page, k, mine, has_other)
                         : store_granule(p, page, k, mine, has_other);
        }
        if (!done) race_lane_access(t, address, bytes, access->host);
    }
}

/* Is it a plain load or store, of global memory or of the warp's own shared memory?
 * Checks and records such an access of some lanes. */
static bool race_is_plain(const struct lane_access *t, const struct access *access)
{
    bool all_used = !(bits_from_to(0, access->bytes) & ~t->used);
    bool is_early =
        t->owner->device->early && t->space == PTX_GLOBAL && race_early_matters(t->w, access->mask);
    return !is_early &&
           (t->kind & ~(unsigned)KIND_CONSTANT) == (KIND_WEAK | BY_THREAD << AGENT_AT) &&
           access->operation != OPERATION_ATOMIC && t->owner == t->w->block->racecheck && all_used;
}

static void race_plain_access(struct lane_access *t, const struct access *access, uint32_t lanes)
{
    const struct plain p = plain_of(t, lanes);
    while (lanes) {
        uint32_t here = lanes_of_page(t, access, lanes);
        struct shadow_page *page = race_page_at(t, access->address[__builtin_ctz(lanes)]);
        shadow_plane(p.planes, page, t->reads ? READ : LAST_WRITE);
        if (page->plane[OTHER_READ] || page->short_reads)
            access_lanes(&p, t, access, page, here, true);
        else
            access_lanes(&p, t, access, page, here, false);
        lanes &= ~here;
    }
}

/* ---- a warp's access ------------------------------------------------------------------------- */

static bool overlaps(uint64_t a, uint64_t b, unsigned bytes)
{
    return a - b < bytes || b - a < bytes;
}

/* The instruction's index in the code. */
static unsigned place_of(const struct warp *w, const struct insn *i)
{
    ptrdiff_t index = i - w->block->launch->kernel->code;
    return index < UNKNOWN_PLACE ? (unsigned)index : UNKNOWN_PLACE;
}

/* Lanes of one store that write the same bytes: a hazard unless the values are equal. Returns the
 * mask with one of these lanes. */
static uint32_t without_duplicates(struct warp *w, const struct insn *i,
                                   const struct access *access)
{
    const uint64_t *address = access->address;
    uint32_t mask = access->mask;
    unsigned bytes = access->bytes;
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
        uint8_t room[LARGEST], their_room[LARGEST];
        const uint8_t *mine = stored_value(w, i, access->stored, lane, room), *theirs;
        bool is_first = true;
        for (uint32_t others = kept; others; others &= others - 1) {
            int other = __builtin_ctz(others);
            if (!overlaps(address[lane], address[other], bytes)) continue;
            is_first = false;
            theirs = stored_value(w, i, access->stored, other, their_room);
            if (address[lane] == address[other] && mine && theirs && !memcmp(mine, theirs, bytes))
                continue;
            struct record_parts them = {.block = w->block->index,
                                        .thread = w->index * WARP + (unsigned)other,
                                        .time = AT_ONCE,
                                        .bytes = 1};
            race_report(w, i, lane,
                        &(struct conflict){.hazard = WRITE_AFTER_WRITE,
                                           .agent = access->agent,
                                           .before = record_of(layout_of(w), them),
                                           .before_place = place_of(w, i),
                                           .space = access->space,
                                           .address = address[lane]});
        }
        if (is_first) kept |= UINT32_C(1) << lane;
    }
    return kept;
}

/* Does an atomic leave the word as it is? Programs use such atomics as loads. */
static bool changes_nothing(const struct lane_access *t, uint64_t address, uint64_t host)
{
    const struct insn *i = t->insn;
    uint64_t now = 0, operand = 0;
    if (i->tally != TALLY_ATOMIC || i->lane_bytes != i->element_bytes || i->b == NO_SLOT)
        return false;
    memcpy(&now, (const void *)(uintptr_t)(host + address), i->element_bytes);
    memcpy(&operand, (const uint8_t *)slot_at(t->w, i->b) + (size_t)t->lane * i->lane_bytes,
           i->lane_bytes);
    switch ((enum atomic)i->atomic.operation) {
    case ATOMIC_ADD:
    case ATOMIC_OR:
    case ATOMIC_XOR: return !operand;
    case ATOMIC_EXCHANGE: return operand == now;
    case ATOMIC_CAS: return operand != now;
    default: return false;
    }
}

/* Does the code act on the value that it reads, as on a flag's or a lock's? */
static bool acts_on_value(const struct lane_access *t)
{
    struct race *race = t->owner->device;
    return race->tracks_observed && t->reads &&
           (t->writes || race_tries_again(race, t->w->block->launch->kernel, t->place));
}

/* A strong access of one lane acquires and releases clocks at each word that it accesses. */
static void synchronise(struct lane_access *t, bool acquires, uint64_t address, unsigned bytes,
                        uint64_t host)
{
    struct sync_table *table = t->space == PTX_SHARED ? &t->owner->words : &t->owner->device->words;
    t->changes = t->writes && !changes_nothing(t, address, host);
    struct reading reading = {t->reads ? race_stores_back(t, table, address, host) : 0,
                              acts_on_value(t), t->owner->device->strict_readers && !acquires};
    unsigned values = reading.acts_on_it ? race_values_before(t) : 0;
    for (uint64_t word = address / GRANULE; word * GRANULE < address + bytes; word++) {
        struct stored stored = {!t->reads, t->changes, 0};
        if (t->insn->element_bytes >= GRANULE)
            memcpy(&stored.before, (const void *)(uintptr_t)(host + word * GRANULE), GRANULE);
        if (t->reads) sync_acquire(t->w, t->lane, table, word + 1, reading);
        if (t->writes) sync_release(t->w, t->lane, table, word + 1, stored);
    }
    race_check_values(t, values);
}

/* The lanes that access shared memory of the system. In cooperative groups' tiles of several warps
 * one lane waits for the other warps, and then gives its lanes their data there without a
 * __syncwarp(). Programs cannot use this memory themselves. */
static uint32_t of_system(const struct access *access)
{
    uint32_t lanes = 0;
    if (access->owner->reserved_offset == access->owner->shared_bytes) return 0;
    for (uint32_t left = access->mask; left; left &= left - 1)
        if (access->address[__builtin_ctz(left)] >= access->owner->reserved_offset)
            lanes |= left & -left;
    return lanes;
}

static bool is_off(const struct race_block *race)
{
    return race->now >= race->device->layout.last_time;
}

static struct lane_access lane_access_of(struct warp *w, const struct insn *i,
                                         enum operation operation, enum ptx_space space,
                                         const struct block *owner)
{
    return (struct lane_access){.w = w,
                                .insn = i,
                                .space = space,
                                .layout = layout_of(w),
                                .owner = owner->racecheck,
                                .place = place_of(w, i),
                                .reads = operation != OPERATION_STORE,
                                .writes = operation != OPERATION_LOAD,
                                .used = UINT32_MAX};
}

/* The lanes' records, without thread and bytes. The time and the kind of the access are final. */
static record common_record(const struct lane_access *t)
{
    struct record_parts parts = {.block = t->w->block->index,
                                 .time = t->w->block->racecheck->now,
                                 .place = race_number_of_place(t->owner->device, t->place),
                                 .kind = t->kind};
    return record_of(t->layout, parts);
}

void event_mbarrier_use(struct warp *w, const struct insn *i, int lane,
                        const struct shared_place *place, enum operation operation)
{
    if (is_off(w->block->racecheck)) return;
    struct lane_access t = lane_access_of(w, i, operation, PTX_SHARED, place->owner);
    t.lane = lane;
    t.kind = operation == OPERATION_STORE ? KIND_WEAK : KIND_ATOMIC;
    t.common = common_record(&t);
    race_lane_access(&t, place->offset, sizeof(uint64_t),
                     (uint64_t)(uintptr_t)place->owner->shared);
}

/* A bulk copy that reduces is atomic where it writes, not where it reads its source. */
static unsigned order_of(const struct launch *launch, const struct insn *i,
                         const struct access *access)
{
    bool is_source = i->family == FAMILY_BULK && access->operation == OPERATION_LOAD;
    unsigned orders = i->order & (ORDER_ACQUIRE | ORDER_RELEASE);
    if (is_source) return ORDER_WEAK;
    return orders && race_skips(launch, i) ? i->order & ~orders : i->order;
}

void race_threads_access(struct warp *w, const struct insn *i, const struct access *access)
{
    struct race_block *race = w->block->racecheck;
    const uint64_t *address = access->address;
    unsigned order = order_of(w->block->launch, i, access);
    struct lane_access t = lane_access_of(w, i, access->operation, access->space, access->owner);
    t.used = check_used_bytes(i);
    t.number = access->copy.number;
    t.stored = access->stored;
    t.kind = (order & ORDER_KIND) | (order & ORDER_BLOCK ? KIND_NARROW : 0) |
             (unsigned)access->agent << AGENT_AT;
    bool is_strong = (order & ORDER_KIND) != KIND_WEAK && access->agent == BY_THREAD;
    if (is_strong && t.writes && race->device->tracks_observed) clock_tick(race);
    if (order & ORDER_RELEASE)
        race_fence(w, access->mask, order & ORDER_BLOCK ? SCOPE_BLOCK : SCOPE_DEVICE);
    t.common = common_record(&t);
    uint32_t lanes = t.reads ? access->mask : without_duplicates(w, i, access);
    if (access->space == PTX_SHARED) lanes &= ~of_system(access);
    if (race_is_plain(&t, access)) {
        race_plain_access(&t, access, lanes);
        return;
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        t.lane = __builtin_ctz(left);
        race_lane_access(&t, address[t.lane], access->bytes, access->host);
    }
    if (!is_strong) return;
    for (uint32_t left = access->mask; left; left &= left - 1) {
        t.lane = __builtin_ctz(left);
        synchronise(&t, order & ORDER_ACQUIRE, address[t.lane], access->bytes, access->host);
    }
}

void race_access(struct warp *w, const struct insn *i, const struct access *access)
{
    if (is_off(w->block->racecheck)) return;
    if (i->family != FAMILY_MATRIX || !i->matrix->moves_rows) {
        race_threads_access(w, i, access);
        return;
    }
    struct access rows = *access; /* without those that two lanes store to one place */
    if (access_writes(access)) rows.mask = without_duplicates(w, i, access);
    race_matrix_access(w, i, &rows);
}
