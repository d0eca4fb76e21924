#include "stray.h"
#include "events.h"
#include <string.h>

bool stray_passes(const struct emu *emu, uint64_t address, struct range *range)
{
    if (device_range(emu, address, range)) return true;
    *range = (struct range){0};
    if (memory_passes(&emu->memory, address, &range->delta)) return true;
    for (unsigned i = 0; i < emu->peer_count; i++) {
        const struct peer *peer = &emu->peers[i];
        if (!peer->may_access || !emu_is_device(peer->emu, address)) continue;
        pthread_mutex_lock(&peer->emu->memory.lock);
        bool passes = memory_passes(&peer->emu->memory, address, &range->delta);
        pthread_mutex_unlock(&peer->emu->memory.lock);
        return passes;
    }
    return false;
}

uint64_t stray_shared_bytes(uint64_t size)
{
    enum { UNIT = 128 };
    return (size + UNIT - 1) / UNIT * UNIT;
}

/* The lanes that may go on together, and of them those that are outside, or leave an allocation in
 * the middle of an element. */
struct sorted {
    uint32_t inside, outside, leaving;
};

/* Leaves the lanes that go on now in access->mask. Returns where the addresses lead, which is
 * `host` or nowhere. */
static uint64_t go_on(struct warp *w, const struct insn *i, struct access *access,
                      const struct sorted *lanes, uint64_t host, struct bad_access *bad)
{
    bool is_load = !access_writes(access), reads_there = is_load && host;
    bool drops = !reads_there && !lanes->inside;
    access->mask = drops ? lanes->outside : lanes->inside | (reads_there ? lanes->outside : 0);
    access->outside = access->mask & lanes->outside;
    bad->access = access;
    bad->lanes = access->mask & (lanes->outside | lanes->leaving);
    bad->passes = drops     ? is_load ? "reads 0" : "is not carried out"
                  : is_load ? "reads what is there"
                            : "is carried out";
    if (bad->lanes) event_bad_access(w, i, bad);
    uint64_t first = drops ? 0 : access->address[__builtin_ctz(access->mask)];
    for (int l = 0; l < WARP; l++)
        if (drops || !(access->mask >> l & 1)) access->address[l] = first;
    if (!drops) return host;
    memset(w->block->nowhere, 0, sizeof w->block->nowhere);
    return (uint64_t)(uintptr_t)w->block->nowhere;
}

/* Sorts the lanes that access the same memory as the first: those in `own`, which is the allocation
 * of the first lane that is in any, and those in none. */
static bool sort_global(const struct emu *emu, const struct access *access, struct sorted *lanes,
                        struct range *own)
{
    bool is_known = false;
    for (uint32_t left = access->mask; left; left &= left - 1) {
        uint64_t address = access->address[__builtin_ctz(left)];
        uint32_t lane = left & -left;
        struct range range = *own;
        if (address - own->base >= own->bytes && !stray_passes(emu, address, &range)) {
            if (!is_known) return false;
            continue;
        }
        if (is_known && range.delta != own->delta) continue;
        if (!is_known || (!own->bytes && range.bytes)) *own = range;
        is_known = true;
        if (!range.bytes) {
            lanes->outside |= lane;
        } else if (range.base == own->base) {
            bool leaves = access->checked > range.bytes - (address - range.base);
            /* What lies behind an allocation is the host's, if it is the host's memory. */
            bool is_kept = !leaves || range.delta || !access_writes(access);
            lanes->leaving |= leaves ? lane : 0;
            *(is_kept ? &lanes->inside : &lanes->outside) |= lane;
        }
    }
    return true;
}

bool stray_enter_global(struct warp *w, const struct insn *i, struct access *access)
{
    struct sorted lanes = {0};
    struct range own = {0};
    if (!sort_global(w->block->launch->emu, access, &lanes, &own)) return false;
    uint64_t host = go_on(w, i, access, &lanes, (uint64_t)own.delta,
                          &(struct bad_access){.wrong = ACCESS_OUTSIDE_GLOBAL});
    bool is_elsewhere = host != (uint64_t)own.delta;
    w->near = own;
    w->near.delta = (int64_t)host;
    if (own.is_heap || is_elsewhere) w->near.bytes = 0; /* the heap: as in find_range() */
    return true;
}

bool stray_enter_shared(struct warp *w, const struct insn *i, struct access *access,
                        struct block *owner)
{
    uint64_t size = owner->shared_bytes, passing = stray_shared_bytes(size);
    struct sorted lanes = {0};
    for (uint32_t left = access->mask; left; left &= left - 1) {
        uint64_t address = access->address[__builtin_ctz(left)], end = address + access->checked;
        uint32_t lane = left & -left;
        if (end > passing && !(lanes.inside | lanes.outside)) return false;
        if (end <= passing) *(address < size ? &lanes.inside : &lanes.outside) |= lane;
        if (end <= passing && address < size && end > size) lanes.leaving |= lane;
    }
    access->host =
        go_on(w, i, access, &lanes, (uint64_t)(uintptr_t)owner->shared,
              &(struct bad_access){
                  .wrong = ACCESS_OUTSIDE, .size = size, .of_what = "of shared memory a block"});
    return true;
}
