/*
 * member_mask.h — the waits of warp-wide instructions (shuffles, votes, __syncwarp). A lane waits
 * until every lane of its member mask has come to an instruction with the same qualifiers and the
 * same mask.
 */
#ifndef EMU_MEMBER_MASK_H
#define EMU_MEMBER_MASK_H

#include "machine.h"

/* The lanes of a fragment that execute its instruction; and those of them whose member masks are
 * complete: all live lanes of the mask are in the fragment. */
uint32_t member_mask_active(const struct warp *, const struct fragment *);
uint32_t member_mask_complete(const struct warp *, const struct fragment *, uint32_t active);

/* Carries out the instruction for `lanes`, whose masks are complete, and moves them on. The
 * fragment's other lanes wait. */
void member_mask_run(struct warp *, struct fragment *, const struct insn *, uint32_t lanes);

/* Looks for lanes at different instructions that together complete a mask, and carries out their
 * operation. Returns whether there were any. */
bool member_mask_run_joint(struct warp *);

/* The member mask of a lane of a waiting fragment. */
uint32_t member_mask_of(const struct warp *, const struct fragment *, int lane);

#endif
