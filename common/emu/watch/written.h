/*
 * written.h — which bytes of memory have been written: a bit for each byte.
 *
 * Padding of a structure may stay unwritten and is read when the structure is copied. Unwritten
 * bytes look like padding if they begin behind a written byte, and end at the next multiple of an
 * alignment, before a member with this alignment, or at the end of the structure. They are taken
 * for padding only if a store in the same page had this alignment: an element as wide; or a vector
 * as wide, if the same gap also occurs 16, 32, 48 or 64 bytes further on or before. (A vector alone
 * would excuse the last element of an array that a kernel with vector stores has forgotten.)
 *
 * A limit: a forgotten member is taken for padding if it looks like padding.
 */
#ifndef EMU_WRITTEN_H
#define EMU_WRITTEN_H

#include "common/emu/machine/pages.h"
#include <stdbool.h>

/* The bits of device memory, in pages that are made when written; or of a block's shared memory, in
 * one piece. */
struct written {
    struct pages pages;
    uint64_t *bits; /* NULL: the bits are in pages */
    size_t words;
    uint64_t widths; /* widths of the stores to the piece; a page keeps them in its stamp */
    bool out_of_memory;
};

void written_open(struct written *);
/* One piece, with addresses from 0 on. False: out of memory. */
bool written_open_piece(struct written *, size_t bytes);
void written_close(struct written *);

/* Marks bytes as unwritten; as written; as written by a store of elements of this size. */
void written_forget(struct written *, uint64_t address, uint64_t bytes);
void written_set(struct written *, uint64_t address, uint64_t bytes);
void written_store(struct written *, uint64_t address, unsigned bytes, unsigned element);
/* Marks a whole piece as unwritten. */
void written_forget_all(struct written *);
/* Copies the bits. `to` and `from` may be the same, and the ranges may overlap. */
void written_copy(struct written *to, uint64_t to_address, struct written *from,
                  uint64_t from_address, uint64_t bytes);

/* Have all of these bytes been written? They must not cross a multiple of 64. */
bool written_near(struct written *, uint64_t address, unsigned bytes);

/* The bytes of a range that have not been written and are not padding. */
struct unwritten {
    uint64_t bytes, first; /* their number, and the lowest of them; 0: all bytes are written */
};
/* Those of a range, without a look at the bytes around it: the range does not begin with
 * padding. */
struct unwritten written_look(struct written *, uint64_t address, uint64_t bytes);
/* Those of an element, with a look at the unwritten bytes around it. `end`: of its allocation. */
struct unwritten written_look_around(struct written *, uint64_t address, unsigned bytes,
                                     uint64_t end);

/* The width of the stores to an address's page, whole vectors; 0: there were none, or different
 * ones. */
unsigned written_width(struct written *, uint64_t address);

#endif
