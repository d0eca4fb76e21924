/*
 * random_schedule.h — turns by chance, the same for the same seed (emu --schedule SEED).
 *
 * A GPU promises no order among blocks, among the warps of a block, or among the lanes of a warp.
 * Yet it nearly always takes the same one, and so does the emulator: a race may show once a week.
 * With a seed, whose turn it is and for how many instructions is chance: of blocks that could be
 * resident, of warps, of lanes that have parted, and lanes part that had no reason to, as they may
 * since Volta. All blocks are run by one host thread, so that a seed repeats everything.
 *
 * Blocks still begin in the order of their index, because programs that wait for a block before
 * them (chained scans) count on that: see emu --blocks descending. Under synccheck, which looks at who comes to a barrier
 * together, lanes do not part without reason. Every store is seen by all threads at once: what
 * only a GPU's memory puts out of order, a missing fence, shows no wrong result here, but
 * racecheck finds it.
 */
#ifndef EMU_RANDOM_SCHEDULE_H
#define EMU_RANDOM_SCHEDULE_H

#include "machine.h"

/* Sets launch->random, by which the others know whether turns are by chance. */
void random_begin(struct launch *, uint64_t seed);
/* A number below n. */
unsigned random_below(struct launch *, unsigned n);
/* 0 to n - 1 in any order, n at most 256. */
void random_order(struct launch *, uint8_t *order, unsigned n);
/* How many instructions a warp may run now; 0: it is not its turn. */
uint64_t random_slice(struct launch *);
/* Parts some lanes from a fragment, or not. */
void random_split(struct warp *, struct fragment *);

#endif
