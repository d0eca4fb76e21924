/*
 * random_schedule.h — a reproducible random schedule (emu --schedule SEED).
 *
 * A GPU promises no order among blocks, among the warps of a block, or among the lanes of a warp.
 * Yet a GPU nearly always takes the same order, and so does the emulator: a race may show once a
 * week. With a seed, the order of turns and their lengths are random: of resident blocks, of warps,
 * and of fragments. Lanes also split without a branch, as they may since Volta. One host thread
 * runs all blocks, so a seed always gives the same schedule.
 *
 * Blocks still start in the order of their index, because programs that wait for an earlier block
 * (chained scans) rely on it: see emu --blocks descending. Under synccheck, which looks at the
 * lanes that come to a barrier together, lanes do not split without a branch. All threads see a
 * store at once. A missing fence, which matters only for a GPU's memory order, gives no wrong
 * result here; racecheck finds it.
 */
#ifndef EMU_RANDOM_SCHEDULE_H
#define EMU_RANDOM_SCHEDULE_H

#include "machine.h"

/* A number whose bits all depend on those of another one. */
uint64_t random_mixed(uint64_t);
/* Starts the generator of a launch. launch->random is then not 0, and the schedule is random. */
void random_begin(struct launch *, uint64_t seed);
/* A random number below n. */
unsigned random_below(struct launch *, unsigned n);
/* The numbers 0 to n - 1 in random order; n is at most 256. */
void random_order(struct launch *, uint8_t *order, unsigned n);
/* The length of a warp's turn in instructions; 0: it has no turn now. */
uint64_t random_slice(struct launch *);
/* Splits some lanes off a fragment, or none. */
void random_split(struct warp *, struct fragment *);

#endif
