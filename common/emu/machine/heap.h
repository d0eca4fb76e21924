/*
 * heap.h — malloc and free in kernels.
 *
 * The heap is one range of device memory. It is made at the launch of the first kernel that calls
 * malloc, so the device's list of ranges does not change while a grid runs. The list of its blocks
 * is kept in host memory, behind a lock. Blocks stay allocated after the kernel; the host cannot
 * access them.
 */
#ifndef EMU_HEAP_H
#define EMU_HEAP_H

#include "memory.h"

struct heap {
    uint64_t base;     /* 0: not made yet */
    size_t wanted;     /* requested bytes; 0: a GPU's default */
    size_t granules;   /* units of allocation */
    size_t free, next; /* free granules; where the search for the next block begins */
    uint32_t *owner;   /* of each granule: 1 + the first granule of its block; 0: free */
    uint64_t *bytes;   /* of the block that begins, or began, in a granule */
    pthread_mutex_t lock;
};

/* Makes the heap if it is not there yet. Returns 0 or an enum emu_error. */
int heap_open(struct heap *, struct memory *);
void heap_close(struct heap *, struct memory *);

/* A block's address, aligned to 16; 0: the heap is exhausted. */
uint64_t heap_alloc(struct heap *, uint64_t bytes);
/* Frees a block and sets its size; returns NULL. Otherwise returns what is wrong with the
 * address. */
const char *heap_free(struct heap *, uint64_t address, uint64_t *bytes);
/* The block that holds an address. False: no block does. */
bool heap_find(struct heap *, uint64_t address, struct range *);
/* The first block that begins at *granule or behind it; *granule becomes the next place to search.
 * False: there are no more blocks. */
bool heap_walk(struct heap *, size_t *granule, struct range *);
/* "8 bytes past the end of the block of 24 bytes at 0x…", "in a block that was freed" */
void heap_describe(struct heap *, uint64_t address, char *text, size_t size);

#endif
