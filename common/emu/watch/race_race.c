/* race_race.c — racecheck: splits a warp's access into accesses of single lanes. See race_race.h.
 * */
#include "access.h"
#include "check.h"
#include "common/emu/ptx/matrix.h"
#include "common/emu/machine/shared.h"
#include "common/emu/ptx/warp_ops.h"
#include "common/emu/machine/events.h"
#include <string.h>

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
static void synchronise(struct lane_access *t, uint64_t address, unsigned bytes, uint64_t host)
{
    struct sync_table *table = t->space == PTX_SHARED ? &t->owner->words : &t->owner->device->words;
    t->changes = t->writes && !changes_nothing(t, address, host);
    struct reading reading = {
        t->reads ? race_stores_back(t, table, address, host) : 0, acts_on_value(t),
        t->owner->device->strict_readers && !(t->insn->order & ORDER_ACQUIRE)};
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
    return race->device->off || race->now >= race->device->layout.last_time;
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
static unsigned order_of(const struct insn *i, const struct access *access)
{
    bool is_source = i->family == FAMILY_BULK && access->operation == OPERATION_LOAD;
    return is_source ? ORDER_WEAK : i->order;
}

void race_threads_access(struct warp *w, const struct insn *i, const struct access *access)
{
    struct race_block *race = w->block->racecheck;
    const uint64_t *address = access->address;
    unsigned order = order_of(i, access);
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
        synchronise(&t, address[t.lane], access->bytes, access->host);
    }
    if (race->device->space.out_of_memory) race->device->off = true;
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
