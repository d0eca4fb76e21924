/*
 * init.h — initcheck: reads of memory that has not been written.
 *
 * It keeps a bit for each byte of device memory and of a block's shared memory. (compute-sanitizer
 * checks global memory only.) Stores and atomics of kernels write bytes, and so do copies and fills
 * by the host. A copy from device to device copies the bits and is not a read. Variables of a
 * module count as written, and so does mapped host memory.
 *
 * A byte must have been written before a kernel loads it, before one of the kernel's asynchronous
 * copies reads it, and before it is copied to the host. Padding of structures is an exception
 * (written.h). So are elements that a wide load reads only because the compiler widened it
 * (used_bytes), or that it discards. In shared memory a finding is a warning and not an error: much
 * correct code, such as CUB's merge sort, reads an element beyond those it has filled and does not
 * use it. Local memory is not checked, because compilers copy halves of structures there.
 */
#ifndef EMU_INIT_H
#define EMU_INIT_H

#include "common/emu/machine/access.h"

/* initcheck's state of a device; NULL: out of memory. */
struct init *init_open(void);
void init_close(struct init *);
/* Bytes of device memory are unwritten from now on; are written; get the bits of other bytes. */
void init_forget(struct init *, uint64_t address, uint64_t bytes);
void init_write(struct init *, uint64_t address, uint64_t bytes);
void init_copy(struct init *to, uint64_t to_address, struct init *from, uint64_t from_address,
               uint64_t bytes);
/* The host reads, by a function of a library or (NULL) by a copy: one finding if some of the bytes
 * have not been written. */
void init_read(struct emu *, uint64_t address, const struct emu_rows *, const char *reader);

/* A grid begins; the state of a block, which serves one block after another. False, NULL: out of
 * memory. */
bool init_begin(struct launch *);
struct init_block *init_block_new(const struct block *);
void init_block_start(struct block *);
void init_block_free(struct init_block *);

void init_access(struct warp *, const struct insn *, const struct access *);

#endif
