/*
 * pool.h — a memory pool, which only counts bytes. The memory that it holds in reserve
 * (cudaMemPoolAttrReleaseThreshold) is in fact free.
 *
 * memory_pools.c allocates from pools and keeps the pools of each device; pool_api.c makes, changes
 * and queries pools.
 */
#ifndef CUDART_POOL_H
#define CUDART_POOL_H

#include "cudart.h"

struct memory_pool {
    int device;
    bool is_default;
    int reuse[3]; /* the first three attributes, kept without effect */
    uint64_t threshold, reserved, reserved_high, used, used_high;
    enum cudaMemAccessFlags access[MAX_DEVICES];
};

/* Initialises a pool of a device. */
void cudart_pool_prepare(struct memory_pool *, int device);
/* The pool of a handle; NULL if the handle is not a pool. */
struct memory_pool *cudart_pool_find(cudaMemPool_t);
/* Adds a pool to the valid ones; false: out of memory. */
bool cudart_pool_add(struct memory_pool *);
/* Removes a pool; false if some of its memory is still allocated, so that its counts are needed. */
bool cudart_pool_remove(struct memory_pool *);
/* Reduces the reserve to at most `keep` bytes. */
void cudart_pool_trim(struct memory_pool *, uint64_t keep);

#define RETURN_UNLESS_POOL(handle, pool)                                                           \
    RETURN_IF_FAULTY();                                                                            \
    struct memory_pool *pool = cudart_pool_find(handle);                                           \
    if (pool == NULL) return cudart_done(cudaErrorInvalidValue)

#endif
