/*
 * cudart_memory.h — what the program has allocated.
 */
#ifndef CUDART_MEMORY_H
#define CUDART_MEMORY_H

#include "cudart.h"

struct memory_pool; /* cudart_pool.c */

/* What the program has said of managed memory (cudart_managed.c). */
struct advice {
    bool read_mostly, by_host, by_device[MAX_DEVICES];
    struct cudaMemLocation preferred, prefetched;
};

/* An allocation. Device memory belongs to the emulator; the rest is host memory that is mapped into
 * the devices under its own address. */
enum memory_kind { DEVICE, PINNED, MANAGED, REGISTERED };

struct runtime_allocation {
    void *address;
    size_t bytes;
    enum memory_kind kind;
    unsigned flags;
    int device;            /* the one that was current, or the pool's */
    struct memory_pool *pool; /* that device memory was taken from; NULL: none */
    struct advice *advice; /* of managed memory, owned */
};

/* Writes an allocation down, whose address, bytes and kind are given. */
cudaError_t cudart_remember(struct runtime_allocation);
/* Frees an allocation, if it is one of the kinds whose bits are set in `kinds`. */
int cudart_forget(void *address, unsigned kinds);
/* The allocation that begins at an address. False: none does. */
bool cudart_recall(const void *address, struct runtime_allocation *found);

/* Device memory of a pool, or of none. */
cudaError_t cudart_allocate(void **pointer, size_t bytes, struct memory_pool *);
/* A pool gives so many bytes, or gets them back. (cudart_pool.c) */
void cudart_pool_take(struct memory_pool *, size_t bytes);
void cudart_pool_give(struct memory_pool *, size_t bytes);

#endif
