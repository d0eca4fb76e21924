/* private_rules.c — local memory, and constant memory with an address of its own for each lane. */
#include "rules.h"

/* Word w of the 32 lanes' local memories lies side by side: 128 bytes, of which 8 lanes have a
 * sector. An access needs a request for each of its words. */
enum { WORD_BYTES = 4, SECTOR_LANES = SECTOR_BYTES / WORD_BYTES };

static unsigned words_of(unsigned bytes) { return bytes < WORD_BYTES ? 1 : bytes / WORD_BYTES; }

void count_local(struct insn_counts *counts, const uint64_t *address, uint32_t mask, unsigned bytes)
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

void count_local_run(struct insn_counts *counts, uint32_t mask, bool apart, unsigned bytes)
{
    unsigned words = words_of(bytes), sectors = 0;
    for (unsigned lane = 0; lane < WARP; lane += SECTOR_LANES)
        sectors += (mask >> lane & ((1u << SECTOR_LANES) - 1)) != 0;
    counts->requests += words;
    counts->sectors += words * (apart ? WARP : sectors);
}

/* The constant cache serves one word at a time. */
void count_constant(struct insn_counts *counts, const uint64_t *address, uint32_t mask)
{
    uint64_t word[WARP];
    unsigned lanes = 0;
    for (; mask; mask &= mask - 1) word[lanes++] = address[__builtin_ctz(mask)] / WORD_BYTES;
    unsigned replays = distinct(word, lanes) - 1;
    counts->divergent += replays > 0;
    counts->replays += replays;
}
