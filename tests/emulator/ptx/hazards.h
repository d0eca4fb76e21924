/* hazards.h — runs a kernel of tests/fixtures/programs/hazards.cu. */
#ifndef HAZARDS_H
#define HAZARDS_H

#include "common/emu/emu.h"

enum { HAZARD_WORDS = 1 << 14 };

/* Runs it with data[i] = i and flags[i] = 0, HAZARD_WORDS each, as a cooperative grid. Returns
 * emu_launch's error. */
int hazards_run(struct emu *, const char *kernel, unsigned grid, unsigned block);
/* The same, and then reads data and flags back. */
int hazards_result(struct emu *, const char *kernel, unsigned grid, unsigned block, int *data,
                   int *flags);

#endif
