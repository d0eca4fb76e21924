/*
 * member_mask.h — warp-wide instructions: shuffles, votes, __syncwarp. A lane waits at one
 * until every lane of its member mask has come to one with the same qualifiers and the same mask.
 */
#ifndef EMU_MEMBER_MASK_H
#define EMU_MEMBER_MASK_H

#include "machine.h"

/* The lanes of a fragment that would execute the instruction it is at, and of those the ones whose
 * member masks are complete: all live lanes in them are here, too. */
uint32_t member_mask_active(const struct warp *, const struct fragment *);
uint32_t member_mask_complete(const struct warp *, const struct fragment *, uint32_t active);

/* Carries the instruction out for `lanes`, whose masks are complete, and moves them on. The
 * fragment's others stay and wait. */
void member_mask_run(struct warp *, struct fragment *, const struct insn *, uint32_t lanes);

/* Looks for lanes that wait at different places and together complete a mask, and lets them go on.
 * Returns whether there were any. */
bool member_mask_run_joint(struct warp *);

/* The member mask that a lane of a waiting fragment names. */
uint32_t member_mask_of(const struct warp *, const struct fragment *, int lane);

#endif
