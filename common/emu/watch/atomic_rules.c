/*
 * atomic_rules.c — atomics on shared and on global memory.
 *
 * The memory changes an address for one lane at a time. So lanes with the same address do not share
 * a wavefront, as those of a load do, but wait for each other.
 */
#include "common/emu/ptx/operations.h"
#include "rules.h"

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

void count_shared_atomic(struct insn_counts *counts, const struct insn *insn,
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
void count_global_atomic(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                         unsigned bytes)
{
    enum { FEW_LINES = 4, SECOND_PART = (int)0xff00ff00 };
    uint32_t second = 0;
    if (bytes > 4 && lines(address, mask) > FEW_LINES) second = mask & (uint32_t)SECOND_PART;
    counts->requests++;
    counts->bytes += (uint64_t)bytes * (unsigned)__builtin_popcount(mask);
    counts->sectors += turns_by_sector(address, mask & ~second) + turns_by_sector(address, second);
}
