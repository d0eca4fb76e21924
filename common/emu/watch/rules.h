/* rules.h — rules of counters.h that take more than a few lines; each adds one access of a warp.
 *
 * `address` holds 32 lanes; only those in mask count; at least one does. */
#ifndef EMU_RULES_H
#define EMU_RULES_H

#include "common/emu/machine/access.h"

enum { BANKS = 32, BANK_BYTES = 4, SECTOR_BYTES = 32 };

/* How many different numbers are there? At most WARP numbers. */
unsigned distinct(const uint64_t *number, unsigned count);

/* The wavefronts that a group of lanes needs: see counters.c. Changes `unit`. */
unsigned wavefronts(uint32_t *unit, unsigned lanes, unsigned banks);

/* What ncu's Source page calls ideal for an access that needs this number of wavefronts: as many as
 * the active lanes' bytes would fill. */
unsigned source_ideal(uint32_t mask, unsigned bytes, unsigned wavefronts);

void count_shared_atomic(struct insn_counts *, const struct insn *, const uint64_t *address,
                         uint32_t mask, unsigned bytes);
void count_global_atomic(struct insn_counts *, const uint64_t *address, uint32_t mask,
                         unsigned bytes);
/* cp.async; `from` has an address for each lane of `to`, and the mask of those that read. */
void count_copy(struct insn_counts *, const struct insn *, const struct access *from,
                const struct access *to);
/* `address` is an offset in the lane's own local memory. */
void count_local(struct insn_counts *, const uint64_t *address, uint32_t mask, unsigned bytes);
/* The same for one offset, or for `apart` another one for each of the 32 lanes. */
void count_local_run(struct insn_counts *, uint32_t mask, bool apart, unsigned bytes);
void count_constant(struct insn_counts *, const uint64_t *address, uint32_t mask);

#endif
