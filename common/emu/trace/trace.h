/*
 * trace.h — every access to shared and global memory as a line of text, for pictures and tables.
 *
 * Tab-separated, after one header line: launch, kernel, block (its index in the grid), warp, epoch
 * (how many barriers the block has passed), source line (file:line), operation (ld, st, atom),
 * space, bytes a lane, mask (hexadecimal, lane 0 is the lowest bit), and what this access adds to
 * the counters: wavefronts, ideal (as few wavefronts as would do), sectors; "-" where the space has
 * none. Then two lists of as many entries as the mask has lanes, lowest lane first, separated by
 * spaces: the addresses (hexadecimal, shared ones from 0), and the values as they are in memory, in
 * hexadecimal, a vector's elements separated by commas: what a load reads, what a store writes, what
 * an atomic operation finds. A copy's store has "-" for its values: they are those of its load.
 */
#ifndef EMU_TRACE_H
#define EMU_TRACE_H

#include "common/emu/machine/access.h"

struct emu_trace;

/* Into a file that stays the caller's. NULL: out of memory. */
struct emu_trace *trace_open(FILE *);
void trace_close(struct emu_trace *);
void trace_access(struct emu_trace *, const struct warp *, const struct insn *,
                  const struct access *);

#endif
