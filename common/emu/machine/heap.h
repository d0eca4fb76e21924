/*
 * heap.h — malloc and free in kernels.
 *
 * The heap is one range of device memory, made when the first kernel that calls malloc is launched,
 * so that the device's list of ranges does not change while a grid runs. What is allocated inside
 * of it is kept here, behind a lock. Blocks outlive the kernel; the host cannot reach them.
 */
#ifndef EMU_HEAP_H
#define EMU_HEAP_H

#include "memory.h"

struct heap {
    uint64_t base;     /* 0: there is none yet */
    size_t wanted;     /* bytes that it is to have; 0: a GPU's default */
    size_t granules;   /* units of allocation */
    size_t free, next; /* granules that are free; where the next block is tried */
    uint32_t *owner;   /* of each granule: 1 + the first granule of its block; 0: free */
    uint64_t *bytes;   /* of the block that begins, or has begun, in a granule */
    pthread_mutex_t lock;
};

/* The heap is there. Returns 0 or an enum emu_error. */
int heap_open(struct heap *, struct memory *);
void heap_close(struct heap *, struct memory *);

/* A block's address, aligned to 16; 0: the heap is exhausted. */
uint64_t heap_alloc(struct heap *, uint64_t bytes);
/* Frees a block and tells its size. Otherwise returns what is wrong with the address. */
const char *heap_free(struct heap *, uint64_t address, uint64_t *bytes);
/* The block that holds an address. False: none does. */
bool heap_find(struct heap *, uint64_t address, struct range *);
/* The first block at or behind a granule; *granule is then the one behind its start. False: no more
 * blocks. */
bool heap_walk(struct heap *, size_t *granule, struct range *);
/* "8 bytes past the end of the block of 24 bytes at 0x…", "in a block that was freed" */
void heap_describe(struct heap *, uint64_t address, char *text, size_t size);

#endif
