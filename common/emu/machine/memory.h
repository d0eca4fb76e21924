/*
 * memory.h — device memory.
 *
 * Device addresses are a reserved range of the process's address space in which nothing is mapped.
 * So a host program that dereferences a device pointer faults, as it would with a GPU. The bytes
 * are in a second range of the same size; `delta` is the distance between the two. Pages take
 * memory only when they are written.
 */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include "address_space.h"
#include "ranges.h"

struct ipc_area; /* ipc.c */

struct memory {
    struct address_space space; /* the byte at address a is space.store[a - space.base] */
    size_t capacity, used;   /* bytes that may be allocated; bytes that are */
    uint8_t fresh;           /* the value of new bytes */
    uint64_t next;           /* where the next search begins: freed addresses are used last */
    struct ranges allocations, mapped; /* ranges of device addresses; of mapped host memory */
    pthread_mutex_t
        lock; /* of both, for kernels of other devices; emu->lock keeps out all others */
    struct ipc_area *areas; /* that several processes share; NULL: none */
    atomic_uint area_count; /* of them, for kernels of other devices, too */
};

/* Reserves addresses for `capacity` bytes, different ones for each device number. False: the host
 * has not enough addresses, or would have fewer than `spare` bytes of addresses left. */
bool memory_open(struct memory *, size_t capacity, unsigned number, size_t spare);
void memory_close(struct memory *);
/* Returns 0 or an enum emu_error. New memory reads as `fresh`, up to FRESH_LIMIT bytes. */
int memory_alloc(struct memory *, size_t bytes, emu_addr *);
int memory_free(struct memory *, emu_addr);
/* See emu_hide(). Returns the number of bytes; 0: nothing has changed. */
size_t memory_hide(struct memory *, emu_addr, bool hidden);
/* Make and free the heap of malloc in kernels, which the host cannot access. */
int memory_alloc_heap(struct memory *, size_t bytes, emu_addr *);
void memory_free_heap(struct memory *, emu_addr);
/* Takes addresses for another process's memory; `page_offset` is that of the first in its page. */
int memory_take(struct memory *, size_t bytes, uint64_t page_offset, emu_addr *);
void memory_give_back(struct memory *, emu_addr);
/* The pages of the store that hold a range, which hold no other one. */
void *memory_pages(const struct range *, uint64_t *bytes);
int memory_map(struct memory *, void *host, size_t bytes);
int memory_unmap(struct memory *, void *host);
/* The range that holds an address; NULL: none does. */
const struct range *memory_find(const struct memory *, uint64_t address);
/* The same, and also a hidden one. */
const struct range *memory_find_hidden(const struct memory *, uint64_t address);
/* The range that holds an address, or else the nearest one. NULL: no memory is allocated. */
const struct range *memory_nearest(const struct memory *, uint64_t address);
/* Is an address in a page of device memory of which a range has a part, or less than 4096 bytes
 * from mapped memory of the host? Stores the range's delta then. */
bool memory_passes(const struct memory *, uint64_t address, int64_t *delta);
/* memory_find() for a kernel of another device. It returns a copy, since the range may be freed at
 * any time. */
bool memory_look(struct memory *, uint64_t address, struct range *);
/* The host's address of [address, address + bytes); NULL: this is not inside of one range. */
void *memory_view(const struct memory *, uint64_t address, size_t bytes);

/* ---- memory that several processes share (ipc.c) --------------------------------------------- */

/* Moves the bytes of an exported range back: other processes keep what they have imported. The
 * content of the pages is lost. */
void ipc_withdraw(struct memory *, const struct range *);
/* Forgets all of them, before the memory is closed. */
void ipc_close_all(struct memory *);

#endif
