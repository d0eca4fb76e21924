/*
 * clocks.h — %clock, %globaltimer and %smid.
 *
 * As a rule %clock counts the instructions that its warp has executed, and what it has leapt over:
 * it stands still while the warp waits, and is the same in every run. %globaltimer is the host's
 * clock. Block n is on multiprocessor n modulo their number.
 *
 * With a seed (emu_config.clock_seed) all of them repeat, and differ from seed to seed. Time is the
 * number of warp instructions that the device has executed, of any warp. So it never runs back,
 * not even between two blocks. %globaltimer counts these instructions as nanoseconds, from a
 * beginning that is made from the seed. So does %clock, with a beginning for each multiprocessor.
 * Blocks lie on the multiprocessors in an order made from the seed, which loads them evenly.
 *
 * Time leaps over a loop that only waits for it. Once the warp has passed such a loop without doing
 * anything else, each further pass adds a 32nd of the time that it has waited. So the loop takes
 * some hundred passes, whatever it waits for, and ends up to a 32nd later than it asks for. Before
 * the first leap, other warps run. %globaltimer leaps only with a seed.
 */
#ifndef EMU_CLOCKS_H
#define EMU_CLOCKS_H

#include "device.h"
#include "machine.h"

uint64_t clocks_warp(const struct warp *);
uint64_t clocks_global(const struct warp *);
unsigned clocks_smid(const struct block *);
/* The warp reads a clock in a loop that only waits for it (insn.clock.loop): time may leap. */
void clocks_wait(struct warp *, const struct insn *);

/* A warp's turn begins; `own`: the instructions that it has executed until now. */
static inline void clocks_begin(struct warp *w, uint64_t own)
{
    const struct emu *emu = w->block->launch->emu;
    if (emu->clock_seed) w->earlier = emu->executed - own;
}

/* The turn of a block is over; the last argument is the number of instructions it executed. */
static inline void clocks_end(struct warp *w, uint64_t executed)
{
    struct emu *emu = w->block->launch->emu;
    if (emu->clock_seed) emu->executed += executed;
}

#endif
