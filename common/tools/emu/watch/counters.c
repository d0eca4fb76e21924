/* counters.c — counts an access: banks and wavefronts, sectors, atomics, copies, local memory. */
#include "count.h"
#include "common/tools/emu/machine/async.h"
#include "common/tools/emu/machine/device.h"
#include "common/tools/emu/machine/events.h"

/* ---- shared and global memory ---------------------------------------------------------------- */

/* The number of wavefronts that a group of lanes needs. Memory is cut into units of the access's
 * size: unit[k] is the number of lane k's unit, and `banks` is the number of units that lie side by
 * side in the 32 banks. One wavefront serves one unit of each bank; lanes that access another unit
 * of the same bank wait for the next wavefront. The function overwrites `unit`. */
static unsigned wavefronts(uint32_t *unit, unsigned lanes, unsigned banks)
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

/* What ncu's Source page calls ideal for an access that needs this number of wavefronts: as many as
 * the active lanes' bytes would fill. */
static unsigned source_ideal(uint32_t mask, unsigned bytes, unsigned wavefronts)
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
static unsigned distinct(const uint64_t *number, unsigned count)
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

/* ---- atomics on shared and on global memory -------------------------------------------------- */

/* The memory changes an address for one lane at a time. So lanes with the same address do not share
 * a wavefront, as those of a load do, but wait for each other. */

/* The lanes of a group whose accesses need the busiest bank. */
static unsigned busiest_bank(const uint64_t *address, uint32_t group, unsigned bytes)
{
    unsigned lanes[BANKS] = {0}, most = 0;
    for (; group; group &= group - 1) {
        uint64_t unit = address[__builtin_ctz(group)] / bytes;
        unsigned *bank = &lanes[unit % (BANKS * BANK_BYTES / bytes)];
        if (++*bank > most) most = *bank;
    }
    return most;
}

/* ATOMS.POPC.INC adds up the lanes of an address first. */
static unsigned reduced(const uint64_t *address, uint32_t mask)
{
    uint32_t word[WARP];
    unsigned lanes = 0;
    for (; mask; mask &= mask - 1)
        word[lanes++] = (uint32_t)(address[__builtin_ctz(mask)] / BANK_BYTES);
    return wavefronts(word, lanes, BANKS);
}

static void count_shared_atomic(struct insn_counts *counts, const struct insn *insn,
                                const uint64_t *address, uint32_t mask, unsigned bytes)
{
    unsigned unit = bytes < BANK_BYTES ? BANK_BYTES : bytes, groups = 0, needed = 0;
    unsigned group_lanes = WARP * BANK_BYTES / unit;
    for (unsigned first = 0; first < WARP; first += group_lanes) {
        uint32_t group = (uint32_t)(((UINT64_C(1) << group_lanes) - 1) << first) & mask;
        groups += group != 0;
        needed += busiest_bank(address, group, unit);
    }
    if (insn->counted_bytes == COUNTED_AS_REDUCTION) needed = reduced(address, mask);
    /* CAS reads, and then writes. ncu counts the bank conflicts of one of these. */
    bool is_cas = insn->atomic.operation == ATOMIC_CAS;
    counts->shared_requests++;
    counts->wavefronts += is_cas ? 2 * needed : needed;
    counts->ideal += is_cas ? needed + groups : groups;
    counts->source_ideal += (is_cas ? 2 : 1) * source_ideal(mask, bytes, needed);
}

/* The lanes of a group with this address. */
static uint32_t lanes_at(const uint64_t *address, uint32_t group, uint64_t wanted)
{
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < WARP; lane++)
        lanes |= (uint32_t)(address[lane] == wanted) << lane;
    return lanes & group;
}

/* For each sector, the most lanes that have the same address in it: the sum of these. */
static unsigned turns_by_sector(const uint64_t *address, uint32_t group)
{
    uint64_t sector[WARP];
    unsigned most[WARP], sectors = 0, turns = 0;
    while (group) {
        uint64_t first = address[__builtin_ctz(group)];
        uint32_t same = lanes_at(address, group, first);
        unsigned lanes = (unsigned)__builtin_popcount(same), s = 0;
        group &= ~same;
        while (s < sectors && sector[s] != first / SECTOR_BYTES) s++;
        if (s == sectors) sector[sectors++] = first / SECTOR_BYTES, most[s] = 0;
        if (lanes <= most[s]) continue;
        turns += lanes - most[s];
        most[s] = lanes;
    }
    return turns;
}

static unsigned lines(const uint64_t *address, uint32_t mask)
{
    enum { LINE_BYTES = 128 };
    uint64_t line[WARP];
    unsigned lanes = 0;
    for (; mask; mask &= mask - 1) line[lanes++] = address[__builtin_ctz(mask)] / LINE_BYTES;
    return distinct(line, lanes);
}

/* Atomics of 8 bytes on more than a few lines of the cache go in two parts, by a bit of the lane's
 * number. The recorded patterns have 4 lines and fewer, or 7 and more. */
static void count_global_atomic(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                                unsigned bytes)
{
    enum { FEW_LINES = 4, SECOND_PART = (int)0xff00ff00 };
    uint32_t second = 0;
    if (bytes > 4 && lines(address, mask) > FEW_LINES) second = mask & (uint32_t)SECOND_PART;
    counts->requests++;
    counts->bytes += (uint64_t)bytes * (unsigned)__builtin_popcount(mask);
    counts->sectors += turns_by_sector(address, mask & ~second) + turns_by_sector(address, second);
}

/* ---- asynchronous copies --------------------------------------------------------------------- */

/* Asynchronous copies from global to shared memory (cp.async, LDGSTS).
 *
 * ncu has two kinds of counters for these. NVIDIA's software computes the counters smsp__sass_… and
 * those of the Source page from addresses; the wavefronts here are these. The hardware counts the
 * sectors as those of loads, too. notes/fidelity.md has the rules in words, and what they rest
 * on. */

enum { LINE_BYTES = BANKS * BANK_BYTES, HALF_BYTES = SECTOR_BYTES / 2 };

/* ---- through the L1 cache (.ca) -------------------------------------------------------------- */

/* The lanes of a group that each unit of the banks serves. */
static void lanes_by_bank(uint32_t lanes[BANKS], const struct access *access, uint32_t group)
{
    for (; group; group &= group - 1) {
        unsigned lane = (unsigned)__builtin_ctz(group);
        unsigned bank = access->address[lane] % LINE_BYTES / access->bytes;
        lanes[bank] |= UINT32_C(1) << lane;
    }
}

/* A lane waits for all that have its bank in global memory's line or its bank in shared memory,
 * even for lanes that read the same word. */
static unsigned longest_wait(const struct access *from, const struct access *to, uint32_t group)
{
    uint32_t readers[BANKS] = {0}, writers[BANKS] = {0};
    unsigned most = 0;
    lanes_by_bank(readers, from, group & from->mask);
    lanes_by_bank(writers, to, group);
    for (; group; group &= group - 1) {
        unsigned lane = (unsigned)__builtin_ctz(group);
        uint32_t others = writers[to->address[lane] % LINE_BYTES / to->bytes];
        if (from->mask >> lane & 1)
            others |= readers[from->address[lane] % LINE_BYTES / from->bytes];
        if (lanes_in(others) > most) most = lanes_in(others);
    }
    return most;
}

static void count_cached(struct insn_counts *counts, const struct access *from,
                         const struct access *to)
{
    unsigned group_lanes = WARP * BANK_BYTES / to->bytes;
    for (unsigned first = 0; first < WARP; first += group_lanes) {
        uint32_t group = (uint32_t)(((UINT64_C(1) << group_lanes) - 1) << first) & to->mask;
        counts->ideal += group != 0;
        counts->wavefronts += longest_wait(from, to, group);
    }
}

/* ---- past the L1 cache (.cg) ----------------------------------------------------------------- */

/* What goes from a sector of global memory to one of shared memory: one half of it or both, which
 * stay in their order or are exchanged. */
struct piece {
    uint64_t from, to; /* sectors */
    bool exchanged;
    unsigned halves; /* of `from`: a bit each */
};

static bool is_same_way(const struct piece *a, const struct piece *b)
{
    return a->from == b->from && a->to == b->to && a->exchanged == b->exchanged;
}

/* The pieces of these lanes; returns their number. */
static unsigned take_pieces(struct piece *pieces, const struct access *from,
                            const struct access *to, uint32_t lanes)
{
    unsigned count = 0;
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes), k = 0;
        uint64_t source = from->address[lane], target = to->address[lane];
        struct piece piece = {.from = source / SECTOR_BYTES,
                              .to = target / SECTOR_BYTES,
                              .exchanged = (source ^ target) & HALF_BYTES,
                              .halves = 1u << (source / HALF_BYTES % 2)};
        while (k < count && !is_same_way(&pieces[k], &piece)) k++;
        if (k == count)
            pieces[count++] = piece;
        else
            pieces[k].halves |= piece.halves;
    }
    return count;
}

/* May one wavefront have both? It moves pieces of one kind from one line to one line. */
static bool may_share(const struct piece *a, const struct piece *b)
{
    enum { SECTORS = LINE_BYTES / SECTOR_BYTES };
    return a->from / SECTORS == b->from / SECTORS && a->to / SECTORS == b->to / SECTORS &&
           a->exchanged == b->exchanged && a->halves == b->halves &&
           (a->from ^ a->to) % 2 == (b->from ^ b->to) % 2;
}

/* Of the pieces from `first` on that may share its wavefronts, the most that one of them has to
 * wait for: they read the same sector, or write the same. `done` marks these pieces. */
static unsigned wavefronts_of(const struct piece *pieces, unsigned count, unsigned first,
                              uint32_t *done)
{
    unsigned most = 0;
    for (unsigned i = first; i < count; i++) {
        unsigned others = 0;
        if (!may_share(&pieces[first], &pieces[i])) continue;
        *done |= UINT32_C(1) << i;
        for (unsigned k = first; k < count; k++)
            others += may_share(&pieces[i], &pieces[k]) &&
                      (pieces[i].from == pieces[k].from || pieces[i].to == pieces[k].to);
        if (others > most) most = others;
    }
    return most;
}

static unsigned bypass_wavefronts(const struct access *from, const struct access *to)
{
    struct piece pieces[WARP];
    unsigned count = take_pieces(pieces, from, to, to->mask), needed = 0;
    uint32_t done = 0;
    for (unsigned i = 0; i < count; i++)
        if (!(done >> i & 1)) needed += wavefronts_of(pieces, count, i, &done);
    return needed;
}

/* A copy past the L1 cache has no bank conflicts. One that may fill with zeros (LDGSTS.ZFILL) needs
 * the wavefronts of a copy through the cache in addition, in which all lanes read; and it has the
 * bank conflicts of one in which only those read that do. */
static void count_bypassing(struct insn_counts *counts, const struct insn *insn,
                            const struct access *from, const struct access *to)
{
    struct insn_counts through = {0}, conflicting = {0};
    struct access all = *from;
    all.mask = to->mask;
    if (insn->copy.fills) {
        count_cached(&through, &all, to);
        count_cached(&conflicting, from, to);
    }
    counts->wavefronts = bypass_wavefronts(from, to) + through.wavefronts;
    counts->ideal = counts->wavefronts - (conflicting.wavefronts - conflicting.ideal);
}

/* The hardware's sectors of a copy past the L1 cache: it asks for a line once for each sector of
 * shared memory that it fills from it. */
static unsigned sectors_from_lines(const struct access *from, const struct access *to)
{
    uint64_t line[WARP], sector[WARP];
    unsigned count = 0;
    for (uint32_t left = from->mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left), k = 0;
        line[count] = from->address[lane] / LINE_BYTES;
        sector[count] = to->address[lane] / SECTOR_BYTES;
        while (line[k] != line[count] || sector[k] != sector[count]) k++;
        count += k == count;
    }
    return count;
}

/* ---- both ------------------------------------------------------------------------------------ */

static unsigned sectors_of(const struct access *from)
{
    uint64_t sector[WARP] = {0};
    unsigned lanes = 0;
    for (uint32_t left = from->mask; left; left &= left - 1)
        sector[lanes++] = from->address[__builtin_ctz(left)] / SECTOR_BYTES;
    return distinct(sector, lanes);
}

/* cp.async; `from` has an address for each lane of `to`, and the mask of those that read. */
static void count_copy(struct insn_counts *counts, const struct insn *insn,
                       const struct access *from, const struct access *to)
{
    struct insn_counts each = {0};
    struct piece pieces[WARP];
    bool bypass = insn->copy.bypass;
    if (bypass)
        count_bypassing(&each, insn, from, to);
    else
        count_cached(&each, from, to);
    counts->shared_requests++;
    counts->wavefronts += each.wavefronts;
    counts->ideal += each.ideal;
    counts->source_ideal += source_ideal(to->mask, to->bytes, (unsigned)each.wavefronts) *
                            (bypass && insn->copy.fills ? 2 : 1);
    counts->requests += from->mask != 0;
    counts->bytes += (uint64_t)from->bytes * lanes_in(from->mask);
    counts->sectors += bypass ? sectors_from_lines(from, to) : sectors_of(from);
    counts->copied_sectors += bypass ? take_pieces(pieces, from, to, from->mask) : sectors_of(from);
}

/* ---- local memory, and constant memory with an address of its own for each lane -------------- */

/* Word w of the 32 lanes' local memories lies side by side: 128 bytes, of which 8 lanes have a
 * sector. An access needs a request for each of its words. */
enum { WORD_BYTES = 4, SECTOR_LANES = SECTOR_BYTES / WORD_BYTES };

static unsigned words_of(unsigned bytes) { return bytes < WORD_BYTES ? 1 : bytes / WORD_BYTES; }

/* `address` is an offset in the lane's own local memory. */
static void count_local(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                        unsigned bytes)
{
    unsigned words = words_of(bytes);
    uint64_t sector[WARP];
    unsigned lanes = 0;
    if (!words) return;
    for (; mask; mask &= mask - 1) {
        unsigned lane = (unsigned)__builtin_ctz(mask);
        uint64_t first = address[lane] / (words * WORD_BYTES);
        sector[lanes++] = first * (WARP / SECTOR_LANES) + lane / SECTOR_LANES;
    }
    counts->requests += words;
    counts->sectors += words * distinct(sector, lanes);
}

/* The same for one offset, or for `apart` another one for each of the 32 lanes. */
static void count_local_run(struct insn_counts *counts, uint32_t mask, bool apart, unsigned bytes)
{
    unsigned words = words_of(bytes), sectors = 0;
    for (unsigned lane = 0; lane < WARP; lane += SECTOR_LANES)
        sectors += (mask >> lane & ((1u << SECTOR_LANES) - 1)) != 0;
    counts->requests += words;
    counts->sectors += words * (apart ? WARP : sectors);
}

/* The constant cache serves one word at a time. */
static void count_constant(struct insn_counts *counts, const uint64_t *address, uint32_t mask)
{
    uint64_t word[WARP];
    unsigned lanes = 0;
    for (; mask; mask &= mask - 1) word[lanes++] = address[__builtin_ctz(mask)] / WORD_BYTES;
    unsigned replays = distinct(word, lanes) - 1;
    counts->divergent += replays > 0;
    counts->replays += replays;
}

/* ---- any access ------------------------------------------------------------------------------ */

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
