/*
 * cudart_pool.h — a memory pool, which only counts: memory that it holds in reserve, as
 * cudaMemPoolAttrReleaseThreshold allows, is free memory all the same.
 *
 * cudart_pool.c allocates from pools and knows each device's; cudart_pool_api.c makes them and
 * answers for them.
 */
#ifndef CUDART_POOL_H
#define CUDART_POOL_H

#include "cudart.h"

struct memory_pool {
    int device;
    bool is_default;
    int reuse[3]; /* the first three attributes: kept */
    uint64_t threshold, reserved, reserved_high, used, used_high;
    enum cudaMemAccessFlags access[MAX_DEVICES];
};

/* A pool of that device, fresh. */
void cudart_pool_prepare(struct memory_pool *, int device);
/* The pool of a handle; NULL if it is none. */
struct memory_pool *cudart_pool_find(cudaMemPool_t);
/* Adds a pool to those that are known; false: out of memory. */
bool cudart_pool_add(struct memory_pool *);
/* Takes it away again; false if memory of it is still allocated, so that its counts are needed. */
bool cudart_pool_remove(struct memory_pool *);
/* Lets the reserve go, except for so many bytes. */
void cudart_pool_trim(struct memory_pool *, uint64_t keep);

#define RETURN_UNLESS_POOL(handle, pool)                                                           \
    RETURN_IF_FAULTY();                                                                            \
    struct memory_pool *pool = cudart_pool_find(handle);                                           \
    if (pool == NULL) return cudart_done(cudaErrorInvalidValue)

#endif
