/*
 * counters.h — the rules by which a GPU's memory instructions are counted.
 *
 * Shared memory has 32 banks; successive 32-bit words lie in successive banks. The number of
 * wavefronts of a group of lanes is the number of distinct words in its busiest bank. A group is
 * the warp for accesses of up to 4 bytes, half a warp for 8 bytes, a quarter for 16. Loads merge
 * two groups into one if, for every active lane n, lane n^1 is inactive or has the same address, or
 * if this holds for n^2. These rules agree exactly with ncu's Source page on an H200.
 *
 * ldmatrix and stmatrix move rows of 16 bytes. The eight rows of a matrix are a group.
 *
 * Global memory moves in sectors of 32 bytes; a request is one warp instruction.
 *
 * Atomics, copies, local and constant memory: see atomic_rules.c, copy_rules.c and private_rules.c.
 * notes/fidelity.md compares all rules with recordings.
 */
#ifndef EMU_COUNTERS_H
#define EMU_COUNTERS_H

#include "common/emu/machine/access.h"

/* Counts an access of a warp to shared or global memory. Accesses that ptxas merged count as the
 * machine code makes them: see merge.c.
 */
void count_access(struct insn_counts *, const struct warp *, const struct insn *,
                  const struct access *);

/* Counts a run, faster. False: it is no usual one, and count_access() has to count its lanes. */
bool count_run(struct insn_counts *, const struct warp *, const struct insn *,
               const struct access_run *);

/* The counts of an instruction, kept by the host thread that runs the warp. */
static inline struct insn_counts *counts_of(const struct warp *w, const struct insn *i)
{
    return &w->counts[i - w->block->launch->kernel->code];
}

#endif
