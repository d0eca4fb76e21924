/*
 * init.h — initcheck: reads of memory that nothing wrote.
 *
 * A bit for every byte of device memory, and of a block's shared memory (compute-sanitizer looks at
 * global memory only). Kernels' stores and atomics write, and so do copies and fills by the host; a
 * copy from device to device copies the bits, and is no read. Variables of a module are initialised,
 * and mapped host memory counts as if it were.
 *
 * Every byte must have been written that a kernel loads, that one of its asynchronous copies takes,
 * or that is copied to the host; but for padding of structures (written.h). Elements that a wide
 * load takes only because the compiler widened it (used_bytes), or throws away, do not count. In
 * shared memory it is a warning, no error: much right code, CUB's merge sort, reads an element
 * beyond those it has filled and then does not look at it. Local memory is not watched: compilers
 * copy halves of structures there.
 */
#ifndef EMU_INIT_H
#define EMU_INIT_H

#include "common/emu/machine/access.h"

/* A device's; NULL: out of memory. */
struct init *init_open(void);
void init_close(struct init *);
/* Bytes of device memory that are new and hold nothing, hold something, or hold what others do. */
void init_forget(struct init *, uint64_t address, uint64_t bytes);
void init_write(struct init *, uint64_t address, uint64_t bytes);
void init_copy(struct init *to, uint64_t to_address, struct init *from, uint64_t from_address,
               uint64_t bytes);
/* The host reads: one finding if some of it has not been written. */
void init_read(struct emu *, uint64_t address, const struct emu_rows *);

/* A grid begins, and a block's part, for one block after another; false, NULL: out of memory. */
bool init_begin(struct launch *);
struct init_block *init_block_new(const struct block *);
void init_block_start(struct block *);
void init_block_free(struct init_block *);

void init_access(struct warp *, const struct insn *, const struct access *);

#endif
