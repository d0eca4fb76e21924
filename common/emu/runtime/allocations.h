/*
 * allocations.h — the table of the program's allocations.
 */
#ifndef CUDART_ALLOCATIONS_H
#define CUDART_ALLOCATIONS_H

#include "cudart.h"

struct memory_pool; /* memory_pools.c */

/* The program's advice about managed memory (allocate.c). */
struct advice {
    bool read_mostly, by_host, by_device[MAX_DEVICES];
    struct cudaMemLocation preferred, prefetched;
};

/* An allocation. Device memory belongs to the emulator; IMPORTED is that of another process. All
 * other kinds are host memory, which devices access at the same address. */
enum memory_kind { DEVICE, PINNED, MANAGED, REGISTERED, IMPORTED };

struct runtime_allocation {
    void *address;
    size_t bytes;
    enum memory_kind kind;
    unsigned flags;
    int device;                    /* the device that was current, or the pool's */
    const struct context *context; /* that owns it */
    struct memory_pool *pool;      /* the pool of device memory; NULL: none */
    struct advice *advice;         /* of managed memory, owned */
};

/* Adds an allocation to the table. */
cudaError_t cudart_remember(struct runtime_allocation);
/* Frees an allocation if the bit of its kind is set in `kinds`, and removes it from the table. */
int cudart_forget(void *address, unsigned kinds);
/* Finds the allocation that begins at an address. False: not found. */
bool cudart_recall(const void *address, struct runtime_allocation *found);

/* Calls a function for each allocation of host memory. */
void cudart_each_host(void (*visit)(const struct runtime_allocation *, void *), void *context);

/* Allocates device memory from a pool, or, with pool = NULL, from the device. */
cudaError_t cudart_allocate(void **pointer, size_t bytes, struct memory_pool *);
/* Counts bytes that are taken from a pool or given back to it. (memory_pools.c) */
void cudart_pool_take(struct memory_pool *, size_t bytes);
void cudart_pool_give(struct memory_pool *, size_t bytes);

#endif
