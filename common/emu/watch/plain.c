/*
 * plain.c — racecheck: plain loads and stores of a warp, nearly all accesses of most kernels,
 * in few steps.
 *
 * Nothing is decided here that race.c would decide otherwise. An access takes the short way if
 * the bits of the granule's records tell that each earlier access that matters happens before it:
 * by a barrier of the block or of the warp, or because the same thread made it. Then there is no
 * hazard, and only the records change. Every other access is left to race_lane_access(), such as
 * one that is ordered by a vector clock.
 */
#include "access.h"

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

/* ---- one granule ----------------------------------------------------------------------------- */

/* Keeps a load in a granule with a load by another thread, as keep_read() in race.c. */
static inline bool keep_other(const struct plain *p, struct shadow_page *page, size_t k,
                              record other, record mine)
{
    record read = page->plane[READ][k], *others = page->plane[OTHER_READ];
    if (!p->no_clocks || is_by_atomic(read) || !is_by_thread(read) || !is_by_thread(other))
        return false;
    if (!is_known_over(p, other, mine) && !is_farther(p->layout, mine, other, read)) return true;
    if (!others) return shadow_put_other(p->planes, page, k, mine);
    others[k] = mine;
    return true;
}

/* As access_granule() in race.c for a load. False: the load is left to it. Unless `has_other`,
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
    if (!is_known_over(p, *read, mine)) return has_other && keep_other(p, page, k, other, mine);
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

/* As access_granule() in race.c for a store. False: the store is left to it. */
__attribute__((always_inline)) static inline bool store_granule(const struct plain *p,
                                                                struct shadow_page *page, size_t k,
                                                                record mine, bool has_other)
{
    record *write = &page->plane[LAST_WRITE][k];
    if (may_conflict(p, *write, mine) || may_conflict(p, shadow_record(page, READ, k), mine) ||
        (has_other && may_conflict(p, shadow_other(p->planes, page, k), mine)))
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

bool race_is_plain(const struct lane_access *t, const struct access *access)
{
    bool all_used = !(bits_from_to(0, access->bytes) & ~t->used);
    return t->kind == (KIND_WEAK | BY_THREAD << AGENT_AT) &&
           access->operation != OPERATION_ATOMIC && t->owner == t->w->block->racecheck && all_used;
}

void race_plain_access(struct lane_access *t, const struct access *access, uint32_t lanes)
{
    const struct plain p = plain_of(t, lanes);
    while (lanes) {
        uint32_t here = lanes_of_page(t, access, lanes);
        struct shadow_page *page = race_page_at(t, access->address[__builtin_ctz(lanes)]);
        if (!page || !shadow_plane(p.planes, page, t->reads ? READ : LAST_WRITE)) {
            t->owner->device->off = true;
            return;
        }
        if (page->plane[OTHER_READ] || page->short_reads)
            access_lanes(&p, t, access, page, here, true);
        else
            access_lanes(&p, t, access, page, here, false);
        lanes &= ~here;
    }
}
