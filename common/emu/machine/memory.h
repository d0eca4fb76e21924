/*
 * memory.h — device memory.
 *
 * Device addresses are a reserved stretch of the process's address space in which nothing is
 * mapped, so a host program that dereferences a device pointer faults as it would with a GPU. The
 * bytes are in a second stretch of the same size; `delta` leads from one to the other. Pages cost
 * memory only once written.
 */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include "ranges.h"

struct memory {
    uint64_t base, reserved; /* the device's addresses */
    uint8_t *store;          /* the byte at address a is store[a - base] */
    size_t capacity, used;   /* bytes that may be, and are, allocated */
    uint64_t next; /* where the next allocation is tried: freed addresses come back last */
    struct ranges allocations, mapped; /* of the device's addresses, and of host memory */
    pthread_mutex_t lock; /* of both, for kernels of other devices; the owner's lock holds off
                             everybody else */
};

/* Reserves addresses for `capacity` bytes, other ones for each `number` of a device. False: the host
 * has none, or would have less than `spare` bytes of addresses left. */
bool memory_open(struct memory *, size_t capacity, unsigned number, size_t spare);
void memory_close(struct memory *);
/* Returns 0 or an enum emu_error. Fresh memory reads as 0xCD, as far as POISON_LIMIT. */
int memory_alloc(struct memory *, size_t bytes, emu_addr *);
int memory_free(struct memory *, emu_addr);
/* The same for the heap of malloc in kernels, which the host cannot see into. */
int memory_alloc_heap(struct memory *, size_t bytes, emu_addr *);
void memory_free_heap(struct memory *, emu_addr);
int memory_map(struct memory *, void *host, size_t bytes);
int memory_unmap(struct memory *, void *host);
/* The range that holds an address, or NULL. */
const struct range *memory_find(const struct memory *, uint64_t address);
/* The range that holds an address, or the one that is nearest to it. NULL: no memory is allocated. */
const struct range *memory_nearest(const struct memory *, uint64_t address);
/* The same for another device, while this one works: a copy, for the range may go at any time. */
bool memory_look(struct memory *, uint64_t address, struct range *);
/* The host's view of [address, address + bytes), or NULL if that is not inside one range. */
void *memory_view(const struct memory *, uint64_t address, size_t bytes);

#endif
