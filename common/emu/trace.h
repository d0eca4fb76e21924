/*
 * trace.h — every access to shared and global memory as a line of text, for pictures and tables.
 *
 * Tab-separated, after one header line: launch, kernel, block (its index in the grid), warp, epoch
 * (how many barriers the block has passed), source line (file:line), operation (ld, st, atom),
 * space, bytes a lane, mask (hexadecimal, lane 0 is the lowest bit), and the addresses of the lanes
 * in the mask, lowest lane first, separated by spaces: hexadecimal, shared ones from 0.
 */
#ifndef EMU_TRACE_H
#define EMU_TRACE_H

#include "machine.h"

struct emu_trace {
    FILE *file;
    bool has_header;
};

void trace_access(struct emu_trace *, const struct warp *, const struct insn *, uint32_t mask,
                  const uint64_t *address, unsigned bytes, const char *operation, enum ptx_space);

#endif
