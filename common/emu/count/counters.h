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

#include "common/emu/machine/machine.h"

/* Counts an access of a warp to shared or global memory, as the machine code makes it: see merge.c.
 */
void count_access(struct insn_counts *, const struct warp *, const struct insn *, enum ptx_space,
                  const uint64_t *address, uint32_t mask, unsigned bytes, bool load);

/* An asynchronous copy (LDGSTS): lanes in `reading` read global memory, those in `writing` write
 * shared memory. With `bypass` (cp.async.cg) it does not go by way of the L1 cache. */
void count_copy(struct insn_counts *, const uint64_t *from, uint32_t reading, const uint64_t *to,
                uint32_t writing, unsigned bytes, bool bypass);

/* Adds what the kernel's instructions have counted into a record, per line and in total. */
struct emu_launch_record *record_make(const struct launch *, double seconds);
void record_free(struct emu_launch_record *);

#endif
