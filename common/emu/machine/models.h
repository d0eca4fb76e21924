/*
 * models.h — the rules by which older GPUs would have served the same accesses.
 *
 * They are those of the CUDA C Programming Guide 4.2, appendix F, and of the Kepler tuning guide,
 * 1.4.3.1. Shared memory: `wavefronts` are passes, and `ideal` is how many passes so many bytes need
 * without a conflict. Global memory: `sectors` are transactions, whose sizes differ; `moved` is the
 * sum of those sizes, and `needed` the bytes that were asked for, each once. needed / moved is the
 * bus utilisation.
 */
#ifndef EMU_MODELS_H
#define EMU_MODELS_H

#include "machine.h"

typedef void model_rule(struct insn_counts *, const uint64_t *address, uint32_t mask,
                        unsigned bytes);

struct emu_model {
    struct emu_model_info info;
    model_rule *shared, *load, *store; /* load, store: of global memory. NULL: today's rules */
};

/* Counts by a model's rules; arguments as count_shared and count_global in counters.c. */
void model_shared(const struct emu_model *, struct insn_counts *, const uint64_t *address,
                  uint32_t mask, unsigned bytes);
void model_global(const struct emu_model *, struct insn_counts *, const uint64_t *address,
                  uint32_t mask, unsigned bytes, bool load);

#endif
