#include "counters.h"
#include "common/emu/ptx/matrix.h"
#include "common/emu/machine/async.h"
#include "common/emu/machine/events.h"
#include "common/emu/machine/models.h"
#include "rules.h"

/*
 * The number of wavefronts that a group of lanes needs. Memory is cut into units of the access's
 * size: unit[k] is the number of lane k's unit, and `banks` is the number of units that lie side by
 * side in the 32 banks. One wavefront serves one unit of each bank; lanes that access another unit
 * of the same bank wait for the next wavefront. The function overwrites `unit`.
 */
unsigned wavefronts(uint32_t *unit, unsigned lanes, unsigned banks)
{
    unsigned count = 0;
    uint32_t touched = 0, twice = 0; /* banks */
    for (unsigned k = 0; k < lanes; k++) {
        uint32_t bank = UINT32_C(1) << (unit[k] & (banks - 1));
        twice |= touched & bank;
        touched |= bank;
    }
    if (!twice) return 1; /* the usual case: no bank conflict */
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

/* The number of wavefronts if all neighbouring lanes have the same distance, in words; 0 if they
 * have not. At distance 0 one wavefront is enough. Otherwise the lanes use every p-th bank, where p
 * is the largest power of two that divides the distance, and need p wavefronts, at most 32. */
static unsigned strided_wavefronts(const uint32_t *word)
{
    uint32_t stride = word[1] - word[0], other = 0;
    for (unsigned lane = 1; lane < WARP; lane++) other |= (word[lane] - word[lane - 1]) ^ stride;
    if (other) return 0;
    uint32_t power = stride & -stride;
    return !power ? 1 : power < BANKS ? power : BANKS;
}

/* Is, for every active lane n, lane n^distance inactive or at the same address? */
static bool lanes_pair(const uint64_t *address, uint32_t mask, unsigned distance)
{
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left), other = lane ^ distance;
        if (mask >> other & 1 && address[lane] != address[other]) return false;
    }
    return true;
}

/* Fills `unit` with the units of a group's lanes, leaves out a unit equal to the one before, and
 * returns their number. Accesses are aligned to their size, so two units are equal or have no word
 * in common. */
static unsigned take_units(uint32_t *unit, const uint64_t *address, uint32_t group, unsigned bytes)
{
    unsigned lanes = 0, shift = (unsigned)__builtin_ctz(bytes);
    for (; group; group &= group - 1) {
        uint32_t mine = (uint32_t)(address[__builtin_ctz(group)] >> shift);
        if (!lanes || unit[lanes - 1] != mine) unit[lanes++] = mine;
    }
    return lanes;
}

unsigned source_ideal(uint32_t mask, unsigned bytes, unsigned wavefronts)
{
    enum { WAVEFRONT_BYTES = BANKS * BANK_BYTES };
    unsigned lane_bytes = bytes < BANK_BYTES ? BANK_BYTES : bytes;
    unsigned full = (lanes_in(mask) * lane_bytes + WAVEFRONT_BYTES - 1) / WAVEFRONT_BYTES;
    return full < wavefronts ? full : wavefronts;
}

/* Do several lanes access, and all of them the same address? */
static bool is_one_address(const uint64_t *address, uint32_t mask)
{
    uint64_t first = address[__builtin_ctz(mask)];
    uint32_t others = mask & (mask - 1), left = others;
    while (left && address[__builtin_ctz(left)] == first) left &= left - 1;
    return others && !left;
}

/* Counts one instruction on shared memory. `address` has 32 addresses, of which those of the lanes
 * in `mask` (never 0) count. */
static void count_shared(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                         unsigned bytes, bool load)
{
    counts->shared_requests++;
    counts->one_address += is_one_address(address, mask);
    uint32_t unit[WARP];
    if (bytes <= BANK_BYTES) {
        counts->ideal++;
        counts->source_ideal++;
        for (unsigned lane = 0; lane < WARP; lane++)
            unit[lane] = (uint32_t)(address[lane] / BANK_BYTES);
        unsigned found = mask == ALL_LANES ? strided_wavefronts(unit) : 0;
        if (!found) found = wavefronts(unit, take_units(unit, address, mask, BANK_BYTES), BANKS);
        counts->wavefronts += found;
        return;
    }
    unsigned group_lanes = bytes == 8 ? WARP / 2 : WARP / 4;
    if (load && (lanes_pair(address, mask, 1) || lanes_pair(address, mask, 2))) group_lanes *= 2;
    unsigned needed = 0;
    for (unsigned first = 0; first < WARP; first += group_lanes) {
        uint32_t group = (uint32_t)(((UINT64_C(1) << group_lanes) - 1) << first) & mask;
        if (!group) continue;
        unsigned lanes = take_units(unit, address, group, bytes);
        needed += wavefronts(unit, lanes, BANKS * BANK_BYTES / bytes);
        counts->ideal++;
    }
    counts->wavefronts += needed;
    counts->source_ideal += source_ideal(mask, bytes, needed);
}

/* Counts one instruction that moves rows of 16 bytes (ldmatrix, stmatrix). The lanes that have the
 * eight rows of a matrix are a group. */
static void count_rows(struct insn_counts *counts, const uint64_t *address, uint32_t mask)
{
    enum { ROWS = 8, ROW_BYTES = 16 };
    counts->shared_requests++;
    counts->one_address += is_one_address(address, mask);
    for (unsigned first = 0; first < WARP && mask >> first; first += ROWS) {
        uint32_t unit[WARP], group = mask & (uint32_t)0xff << first;
        if (!group) continue;
        unsigned lanes = take_units(unit, address, group, ROW_BYTES);
        counts->wavefronts += wavefronts(unit, lanes, BANKS * BANK_BYTES / ROW_BYTES);
        counts->ideal++;
        counts->source_ideal++;
    }
}

/* The number of different values, found with a hash table. */
unsigned distinct(const uint64_t *number, unsigned count)
{
    enum { BUCKETS = 2 * WARP };
    uint64_t bucket[BUCKETS];
    uint64_t used = 0; /* a bit for each bucket */
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

/* Counts one instruction on global memory; the arguments are those of count_shared. */
static void count_global(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                         unsigned bytes)
{
    uint64_t sector[WARP]; /* without a sector equal to the one before */
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
    if (model) { /* old generations have no machine code here, so PTX accesses count */
        if (access->space == PTX_SHARED)
            model_shared(model, counts, address, access->mask, bytes);
        else
            model_global(model, counts, address, access->mask, bytes, load);
        return;
    }
    if (access->operation == OPERATION_ATOMIC) {
        if (access->space == PTX_SHARED)
            count_shared_atomic(counts, insn, address, access->mask, bytes);
        else
            count_global_atomic(counts, address, access->mask, bytes);
        return;
    }
    if (insn->counted_bytes == COUNTED_WITH_ANOTHER) return;
    if (insn->counted_bytes) bytes = insn->counted_bytes;
    if (access->space == PTX_SHARED && insn->family == FAMILY_MATRIX && insn->matrix->moves_rows)
        count_rows(counts, address, access->mask);
    else if (access->space == PTX_SHARED)
        count_shared(counts, address, access->mask, bytes, load);
    else
        count_global(counts, address, access->mask, bytes);
}

/* By the rules of count_shared(). No two lanes of a group go to different words of one bank. */
static void count_shared_run(struct insn_counts *counts, const struct access_run *run,
                             unsigned bytes)
{
    unsigned groups = bytes <= BANK_BYTES ? 1 : bytes / BANK_BYTES;
    if (groups > 1 && run->operation == OPERATION_LOAD && !run->stride) groups /= 2; /* pairs */
    counts->shared_requests++;
    counts->one_address += !run->stride;
    counts->wavefronts += groups;
    counts->ideal += groups;
    counts->source_ideal += groups;
}

/* By those of count_global(): the sectors from the first lane's to the last one's. */
static void count_global_run(struct insn_counts *counts, const struct access_run *run,
                             unsigned bytes)
{
    uint64_t last = run->first + (uint64_t)run->stride * (WARP - 1);
    counts->requests++;
    counts->bytes += (uint64_t)bytes * WARP;
    counts->sectors += last / SECTOR_BYTES - run->first / SECTOR_BYTES + 1;
}

bool count_run(struct insn_counts *counts, const struct warp *warp, const struct insn *insn,
               const struct access_run *run)
{
    enum { LARGEST = 16 }; /* bytes of a lane in shared memory: a quarter of a warp is a group */
    unsigned bytes = insn->counted_bytes ? insn->counted_bytes : run->bytes;
    if (warp->block->launch->model || run->mask != ALL_LANES) return false;
    if (insn->counted_bytes == COUNTED_WITH_ANOTHER) return true;
    if (bytes > LARGEST || (run->stride && run->stride != bytes)) return false;
    if (run->space == PTX_SHARED)
        count_shared_run(counts, run, bytes);
    else
        count_global_run(counts, run, bytes);
    return true;
}

/* ptxas may make another instruction of a generic access, so it does not count here. */
void event_private_access(struct warp *w, const struct insn *i, const struct access *access)
{
    if (i->address.space != access->space || w->block->launch->model) return;
    if (access->space == PTX_LOCAL)
        count_local(counts_of(w, i), access->address, access->mask, access->bytes);
    else
        count_constant(counts_of(w, i), access->address, access->mask);
}

void event_local_run(struct warp *w, const struct insn *i, uint32_t lanes, bool apart,
                     unsigned bytes)
{
    if (!w->block->launch->model) count_local_run(counts_of(w, i), lanes, apart, bytes);
}

void event_copy_issued(struct warp *w, const struct insn *i, const struct access *from,
                       const struct access *to)
{
    count_copy(counts_of(w, i), i, from, to);
}

void event_bulk_issued(struct warp *w, const struct insn *i, uint64_t bytes)
{
    counts_of(w, i)->bytes += bytes;
}
