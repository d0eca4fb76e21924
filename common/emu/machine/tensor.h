/*
 * tensor.h — the box of a tensor that a bulk copy moves: which bytes of shared memory belong to
 * which bytes of global memory (PTX ISA, "Tensors").
 *
 * In shared memory the elements of the box follow each other without gaps, dimension 0 first. A
 * swizzle exchanges units of 16 bytes, by the bits of their addresses. A box may reach beyond the
 * tensor: a load writes 0 or NaN to shared memory there, and a store skips it, but for the rest of
 * the last 16 bytes of a row.
 */
#ifndef EMU_TENSOR_H
#define EMU_TENSOR_H

#include "access.h"
#include "tensor_map.h"

enum { TENSOR_ALIGNMENT = 128 }; /* of the box in shared memory */

struct tensor_box {
    struct tensor_map map;
    int32_t at[TENSOR_RANKS];     /* the coordinates of its first element; may be outside */
    uint32_t count[TENSOR_RANKS]; /* elements along each dimension */
    bool is_stored;               /* or reduced; false: the box is loaded */
    uint64_t bytes;
    uint64_t span;   /* bytes of shared memory; with a swizzle, whole lines of its pattern */
    uint32_t offset; /* in shared memory; the caller sets it */
};

/* Reads the map and the coordinates of a lane's instruction. False after a fault. */
bool tensor_box_read(struct warp *, const struct insn *, int lane, struct tensor_box *);

/* Finds the bytes in global memory; *delta becomes the number that, added to their global address,
 * gives the host address. False after a fault. */
bool tensor_find(struct warp *, const struct insn *, int lane, const struct tensor_box *,
                 int64_t *delta);
/* Announces the accesses of one side of a copy. The caller has filled in `access`, except for
 * addresses and sizes. */
void tensor_announce(struct warp *, const struct insn *, const struct tensor_box *,
                     struct access *);

/* Carries out the copy between shared memory, from the box's first byte on, and the tensor, from
 * its first element on. Returns whether it has changed memory. */
bool tensor_carry_out(const struct insn *, const struct tensor_box *, uint8_t *shared,
                      uint8_t *tensor);

#endif
