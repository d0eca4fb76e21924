/*
 * picture.h — what is kept of a run for pictures: of each source line the access to shared memory
 * with the most bank conflicts, and of each kernel's first launch when the warps of block 0 run.
 * emu.h has the structures.
 */
#ifndef EMU_PICTURE_H
#define EMU_PICTURE_H

#include "common/emu/machine/access.h"

struct pictures;

/* NULL: out of memory. */
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
