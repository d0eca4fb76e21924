/*
 * written.h — which bytes of memory have been written: a bit for each.
 *
 * Padding of a structure may stay unwritten, and is read when the structure is copied. It looks so:
 * it begins behind a byte that is written, and ends at the next multiple of an alignment, before a
 * member with that alignment, or at the structure's end. It is taken for padding only if something
 * so aligned was stored in the same page: an element as wide; or a vector as wide, if the same gap
 * is there once more 16, 32, 48 or 64 bytes on, or before it. (The vector alone would excuse the
 * last element of an array, which a kernel that writes vectors has forgotten.)
 *
 * So a member that was forgotten is taken for padding if padding could be in its place.
 */
#ifndef EMU_WRITTEN_H
#define EMU_WRITTEN_H

#include "common/emu/machine/pages.h"
#include <stdbool.h>

/* Of device memory, in pages as they are written; or of a block's shared memory, in one piece. */
struct written {
    struct pages pages;
    uint64_t *bits; /* NULL: it is in pages */
    size_t words;
    uint64_t widths; /* of the stores to it; a page's are its stamp */
    bool out_of_memory;
};

void written_open(struct written *);
/* One piece of addresses from 0 on. False: out of memory. */
bool written_open_piece(struct written *, size_t bytes);
void written_close(struct written *);

/* The bytes are as new; they are written; a kernel stores elements there. */
void written_forget(struct written *, uint64_t address, uint64_t bytes);
void written_set(struct written *, uint64_t address, uint64_t bytes);
void written_store(struct written *, uint64_t address, unsigned bytes, unsigned element);
/* A piece is as new, all of it. */
void written_forget_all(struct written *);
/* A copy: the bytes there are written if those here are. The two may be one, and overlap. */
void written_copy(struct written *to, uint64_t to_address, struct written *from,
                  uint64_t from_address, uint64_t bytes);

/* Have all of these bytes been written? They do not go across a multiple of 64. */
bool written_near(struct written *, uint64_t address, unsigned bytes);

/* The bytes of a range that have not been written, and are not padding. */
struct unwritten {
    uint64_t bytes, first; /* how many, and the lowest; 0: all are written */
};
/* Of a range on its own: what lies around it is not looked at, so that it begins with no padding. */
struct unwritten written_look(struct written *, uint64_t address, uint64_t bytes);
/* Of an element, together with the unwritten bytes around it; `end`: of the memory that it is in. */
struct unwritten written_look_around(struct written *, uint64_t address, unsigned bytes,
                                     uint64_t end);

/* How wide the stores to the page of an address are, vectors as a whole; 0: not all the same, or
 * there are none. */
unsigned written_width(struct written *, uint64_t address);

#endif
