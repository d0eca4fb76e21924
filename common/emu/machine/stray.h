/*
 * stray.h — emu --lenient: accesses outside of memory that a GPU lets pass.
 *
 * A GPU maps memory in pages, and notices only an access to a page that it has not mapped. So an
 * access passes if an allocation has a part of its page of 2 MiB. Outside of device memory it
 * passes if mapped memory of the host is less than 4 KiB away, so that nearly all pointers of the
 * host are noticed. Shared memory is handed out in units of 128 bytes. (notes/checks.md)
 */
#ifndef EMU_STRAY_H
#define EMU_STRAY_H

#include "access.h"
#include "device.h"

/* Does a GPU let an access to a global address pass? *range: the allocation that holds the address;
 * if none does, one of 0 bytes, with the memory's delta. */
bool stray_passes(const struct emu *, uint64_t address, struct range *);
/* The bytes of a block's shared memory, of `size` bytes, with those that pass behind it. */
uint64_t stray_shared_bytes(uint64_t size);

/*
 * An access of which some lane leaves an allocation, or a block's shared memory. Keeps the lanes
 * that go on together, sets access->outside to those of them that are outside, and announces these.
 * A load of a lane outside reads what is there, or 0 behind memory of the host, which has its own
 * data there. A store or an atomic goes nowhere. Lanes that read 0 or store go on alone, and their
 * addresses lead to block->nowhere. The first function also sets w->near; the second, access->host.
 * False: the access of the first lane does not pass.
 */
bool stray_enter_global(struct warp *, const struct insn *, struct access *);
bool stray_enter_shared(struct warp *, const struct insn *, struct access *, struct block *owner);

#endif
