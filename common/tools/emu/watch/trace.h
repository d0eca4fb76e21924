/* trace.h — accesses as lines of text, and what pictures show of a run. */
#ifndef EMU_TRACE_H
#define EMU_TRACE_H

#include "common/tools/emu/machine/events.h"

/* ---- writes every access to shared and global memory as a line of text ----------------------- */

/* Writes every access to shared and global memory as a line of text, for pictures and tables.
 *
 * The columns are separated by tabs, after one header line: launch, kernel, block (its index in the
 * grid), warp, epoch (the number of barriers that the block has passed), source line (file:line),
 * operation (ld, st, atom), space, bytes per lane, mask (hexadecimal; lane 0 is the lowest bit).
 * Then follows what this access adds to the counters: wavefronts, ideal (the smallest possible
 * number of wavefronts) and sectors; "-" if the space does not have the counter. The last two
 * columns are lists with an entry for each lane of the mask, lowest lane first, separated by
 * spaces: the addresses (hexadecimal; shared ones count from 0), and the values in memory
 * (hexadecimal; elements of a vector separated by commas): what a load reads, what a store writes,
 * what an atomic operation finds. A copy's store has "-" for its values, which are those of its
 * load.
 *
 * With emu_config.trace_steps, a line is also written when lanes come to a barrier (bar, barrier)
 * or to a warp-wide operation (match, redux, elect; bar.warp is __syncwarp), and when they carry
 * out a shfl or a vote. Its operation is the first word of the PTX instruction with the next one
 * that is not sync, such as shfl.up, and its space and counts are "-". The first list of a shfl
 * holds the lane whose value each lane receives (hexadecimal); that of other operations is "-". The
 * second list of a shfl and of a vote holds the value that each lane gives and the one that it
 * receives, with a comma between them; that of other operations is "-". */

struct emu_trace;

/* Traces into a file, which the caller closes after trace_close. `limit`: most lines; 0: all. */
struct emu_trace *trace_open(FILE *, uint64_t limit);
void trace_close(struct emu_trace *);
void trace_access(struct emu_trace *, const struct warp *, const struct insn *,
                  const struct access *);
/* Lanes come to a barrier or to a warp-wide operation. Nothing is written for a shfl or a vote. */
void trace_step(struct emu_trace *, const struct warp *, const struct insn *, uint32_t lanes);
/* Lanes have carried out a shfl or a vote. */
void trace_exchange(struct emu_trace *, const struct warp *, const struct insn *,
                    const struct exchange *);

/* ---- pictures -------------------------------------------------------------------------------- */

/* What is kept of a run for pictures: of each source line the access to shared memory
 * with the most bank conflicts, and of each kernel's first launch when the warps of block 0 run.
 * emu.h has the structures. */

struct pictures;

struct pictures *pictures_open(void);
void pictures_close(struct pictures *);

void picture_access(struct pictures *, const struct warp *, const struct insn *,
                    const struct access *);

/* Begins the timeline of a launch whose kernel has none. */
void picture_launch(struct pictures *, const struct launch *);
/* Ends it. */
void picture_launch_end(struct pictures *);
/* A warp begins to run, has chosen lanes to run, and stops. */
void picture_turn(struct pictures *, const struct warp *);
void picture_lanes(struct pictures *, const struct warp *);
void picture_turn_end(struct pictures *, const struct warp *);

#endif
