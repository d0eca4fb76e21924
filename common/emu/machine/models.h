/*
 * models.h — rules by which older GPUs would have served the same accesses.
 *
 * The rules are those of the CUDA C Programming Guide 4.2, appendix F, and of the Kepler tuning
 * guide, 1.4.3.1. Shared memory: `wavefronts` counts passes, and `ideal` the passes for the same
 * bytes without conflicts. Global memory: `sectors` counts transactions, which have different
 * sizes; `moved` is the sum of their sizes, and `needed` is the number of different bytes
 * requested. needed / moved is the bus utilisation.
 */
#ifndef EMU_MODELS_H
#define EMU_MODELS_H

#include "machine.h"

typedef void model_rule(struct insn_counts *, const uint64_t *address, uint32_t mask,
                        unsigned bytes);

struct emu_model {
    struct emu_model_info info;
    model_rule *shared, *load, *store; /* load, store: global memory. NULL: today's rules */
};

/* Counts an access by a model's rules. Arguments as for count_shared and count_global in
 * counters.c. */
void model_shared(const struct emu_model *, struct insn_counts *, const uint64_t *address,
                  uint32_t mask, unsigned bytes);
void model_global(const struct emu_model *, struct insn_counts *, const uint64_t *address,
                  uint32_t mask, unsigned bytes, bool load);

#endif
