/*
 * copy_rules.c — asynchronous copies from global to shared memory (cp.async, LDGSTS).
 *
 * ncu has two kinds of counters for these. NVIDIA's software computes the counters smsp__sass_… and
 * those of the Source page from addresses; the wavefronts here are these. The hardware counts the
 * sectors as those of loads, too. notes/fidelity.md has the rules in words, and what they rest on.
 */
#include "common/emu/ptx/operations.h"
#include "rules.h"

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

void count_copy(struct insn_counts *counts, const struct insn *insn, const struct access *from,
                const struct access *to)
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
