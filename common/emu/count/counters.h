/*
 * counters.h — the rules by which a GPU's memory instructions are counted.
 *
 * Shared memory has 32 banks; successive 32-bit words lie in successive banks. A group of lanes
 * needs as many wavefronts as there are distinct words in its busiest bank. One group is the warp
 * for accesses of up to 4 bytes, half of it for 8 bytes, a quarter for 16. Loads merge two groups
 * into one if every active lane n shares its address with lane n^1 (or every one with n^2), or that
 * lane is inactive. Measured on an H200 with ncu's Source page, to the last unit.
 *
 * Global memory moves in sectors of 32 bytes; a request is one warp instruction.
 */
#ifndef EMU_COUNTERS_H
#define EMU_COUNTERS_H

#include "common/emu/machine/access.h"

enum { SECTOR_BYTES = 32 };

/* Counts an access of a warp to shared or global memory, as the machine code makes it: see merge.c.
 */
void count_access(struct insn_counts *, const struct warp *, const struct insn *,
                  const struct access *);

/* What an instruction counts, in the host thread that runs the warp. */
static inline struct insn_counts *counts_of(const struct warp *w, const struct insn *i)
{
    return &w->counts[i - w->block->launch->kernel->code];
}

#endif
