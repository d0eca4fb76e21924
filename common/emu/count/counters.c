#include "counters.h"
#include "common/emu/machine/async.h"
#include "common/emu/machine/events.h"
#include "common/emu/machine/models.h"

enum { BANKS = 32, BANK_BYTES = 4 };

/*
 * The wavefronts that a group of lanes needs. `unit` is the number of each lane's access if memory is
 * cut into pieces of that size, `banks` how many such pieces lie side by side in the 32 banks.
 * A wavefront serves one piece of each bank; lanes that want another one wait for the next.
 */
static unsigned wavefronts(uint32_t *unit, unsigned lanes, unsigned banks)
{
    unsigned count = 0;
    uint32_t touched = 0, twice = 0; /* banks */
    for (unsigned k = 0; k < lanes; k++) {
        uint32_t bank = UINT32_C(1) << (unit[k] & (banks - 1));
        twice |= touched & bank;
        touched |= bank;
    }
    if (!twice) return 1; /* the everyday case */
    while (lanes) {
        uint32_t served[BANKS], busy = 0;
        unsigned waiting = 0;
        for (unsigned k = 0; k < lanes; k++) {
            unsigned bank = unit[k] & (banks - 1);
            uint32_t bit = UINT32_C(1) << bank, mine = unit[k];
            uint32_t first = busy & bit ? served[bank] : mine;
            served[bank] = first;
            busy |= bit;
            unit[waiting] = mine;
            waiting += first != mine;
        }
        lanes = waiting;
        count++;
    }
    return count;
}

/* All lanes are as far apart as the first two: 1 wavefront if that is nothing, otherwise as many as
 * the largest power of two in it, for then only every so-many-th bank is touched. 0: they are not. */
static unsigned strided_wavefronts(const uint32_t *word)
{
    uint32_t stride = word[1] - word[0], other = 0;
    for (unsigned lane = 1; lane < WARP; lane++) other |= (word[lane] - word[lane - 1]) ^ stride;
    if (other) return 0;
    uint32_t power = stride & -stride;
    return !power ? 1 : power < BANKS ? power : BANKS;
}

/* Does every active lane n share its address with lane n^distance, or is that one inactive? */
static bool lanes_pair(const uint64_t *address, uint32_t mask, unsigned distance)
{
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left), other = lane ^ distance;
        if (mask >> other & 1 && address[lane] != address[other]) return false;
    }
    return true;
}

/* The units of a group's lanes, without repetitions of the lane before. An access is aligned to its
 * size: of two lanes it is the same or has no word in common. */
static unsigned take_units(uint32_t *unit, const uint64_t *address, uint32_t group, unsigned bytes)
{
    unsigned lanes = 0, shift = (unsigned)__builtin_ctz(bytes);
    for (; group; group &= group - 1) {
        uint32_t mine = (uint32_t)(address[__builtin_ctz(group)] >> shift);
        if (!lanes || unit[lanes - 1] != mine) unit[lanes++] = mine;
    }
    return lanes;
}

/* `address` holds 32 lanes; only those in mask count; at least one does. */
static void count_shared(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                         unsigned bytes, bool load)
{
    counts->shared_requests++;
    uint32_t unit[WARP];
    if (bytes <= BANK_BYTES) {
        counts->ideal++;
        for (unsigned lane = 0; lane < WARP; lane++)
            unit[lane] = (uint32_t)(address[lane] / BANK_BYTES);
        unsigned found = mask == ALL_LANES ? strided_wavefronts(unit) : 0;
        if (!found) found = wavefronts(unit, take_units(unit, address, mask, BANK_BYTES), BANKS);
        counts->wavefronts += found;
        return;
    }
    unsigned group_lanes = bytes == 8 ? WARP / 2 : WARP / 4;
    if (load && (lanes_pair(address, mask, 1) || lanes_pair(address, mask, 2))) group_lanes *= 2;
    for (unsigned first = 0; first < WARP; first += group_lanes) {
        uint32_t group = (uint32_t)(((UINT64_C(1) << group_lanes) - 1) << first) & mask;
        if (!group) continue;
        unsigned lanes = take_units(unit, address, group, bytes);
        counts->wavefronts += wavefronts(unit, lanes, BANKS * BANK_BYTES / bytes);
        counts->ideal++;
    }
}

/* How many different numbers are there? They are looked up in a hash table. */
static unsigned distinct(const uint64_t *number, unsigned count)
{
    enum { BUCKETS = 2 * WARP };
    uint64_t bucket[BUCKETS];
    uint64_t used = 0; /* a bit each */
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = (unsigned)(number[i] ^ number[i] >> 6) % BUCKETS;
        while (used >> at & 1 && bucket[at] != number[i]) at = (at + 1) % BUCKETS;
        if (used >> at & 1) continue;
        used |= UINT64_C(1) << at;
        bucket[at] = number[i];
        found++;
    }
    return found;
}

/* The same. */
static void count_global(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                         unsigned bytes)
{
    uint64_t sector[WARP]; /* leaving out one that the lane before has */
    unsigned sectors = 0;
    bool ascending = true;
    counts->requests++;
    counts->bytes += (uint64_t)bytes * lanes_in(mask);
    /* An access is aligned to its size, so it lies in one sector. */
    for (uint32_t left = mask; left; left &= left - 1) {
        uint64_t mine = address[__builtin_ctz(left)] / SECTOR_BYTES;
        if (sectors && mine == sector[sectors - 1]) continue;
        if (sectors && mine < sector[sectors - 1]) ascending = false;
        sector[sectors++] = mine;
    }
    counts->sectors += ascending ? sectors : distinct(sector, sectors);
}

void count_access(struct insn_counts *counts, const struct warp *warp, const struct insn *insn,
                  const struct access *access)
{
    const struct emu_model *model = warp->block->launch->model;
    const uint64_t *address = access->address;
    bool load = access->operation == OPERATION_LOAD;
    unsigned bytes = access->bytes;
    if (model) { /* no machine code is for it: what ptxas merged for another counts as in PTX */
        if (access->space == PTX_SHARED)
            model_shared(model, counts, address, access->mask, bytes);
        else
            model_global(model, counts, address, access->mask, bytes, load);
        return;
    }
    if (insn->counted_bytes == COUNTED_WITH_ANOTHER) return;
    if (insn->counted_bytes) bytes = insn->counted_bytes;
    if (access->space == PTX_SHARED)
        count_shared(counts, address, access->mask, bytes, load);
    else
        count_global(counts, address, access->mask, bytes);
}

/* Do lanes 2n and 2n + 1 fill a sector of shared memory with one of global memory? */
static bool fills_sectors(const struct access *from, const struct access *to)
{
    for (unsigned l = 0; l < WARP; l += 2) {
        uint32_t pair = to->mask >> l & 3;
        if (pair == 0) continue;
        if (pair != 3 || (from->mask >> l & 3) != 3 ||
            to->address[l] / SECTOR_BYTES != to->address[l + 1] / SECTOR_BYTES ||
            from->address[l] / SECTOR_BYTES != from->address[l + 1] / SECTOR_BYTES)
            return false;
    }
    return true;
}

/* An asynchronous copy (LDGSTS). With `bypass` (cp.async.cg) it does not go by way of the L1
 * cache. */
static void count_copy(struct insn_counts *counts, const struct access *from,
                       const struct access *to, bool bypass)
{
    struct insn_counts each = {0};
    if (from->mask) count_global(&each, from->address, from->mask, from->bytes);
    count_shared(&each, to->address, to->mask, to->bytes, false);
    /* Past the L1 cache whole sectors go to shared memory. On an H200 copies that do not fill them
     * go one by one, at each of the two strides that were measured. */
    if (bypass && !fills_sectors(from, to)) {
        each.sectors = (unsigned)__builtin_popcount(from->mask);
        each.wavefronts = (unsigned)__builtin_popcount(to->mask);
    }
    counts->requests += each.requests;
    counts->sectors += each.sectors;
    counts->bytes += each.bytes;
    counts->shared_requests += each.shared_requests;
    counts->wavefronts += each.wavefronts;
    counts->ideal += each.ideal;
}

void event_copy_issued(struct warp *w, const struct insn *i, const struct access *from,
                       const struct access *to)
{
    count_copy(counts_of(w, i), from, to, i->copy.bypass);
}
