/* bulk.h — the programs about bulk copies use step 12's barriers. */
#ifndef BULK_H
#define BULK_H

#include "pair.h"
#pragma nv_diag_suppress 177 /* not every program needs every function */
#include "steps/12-pipeline/parts/barrier.cuh"

/* The first thread makes `count` barriers for `arrivals` arrivals. */
static __device__ void make_barriers(barrier *b, int count, unsigned arrivals)
{
    for (int i = 0; i < count && threadIdx.x == 0; i++) barrier_init(&b[i], arrivals);
    __syncthreads();
}

/* Begins a bulk copy, whose bytes arrive at the barrier, where the thread arrives, too. */
static __device__ void bulk_fetch(void *to, const void *from, unsigned bytes, barrier *full)
{
    barrier_arrive_expect(full, bytes);
    bulk_load(to, from, bytes, full);
}

/* Copies that begin later see what the thread has stored to shared memory. */
static __device__ void proxy_fence(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* The same of global memory. */
static __device__ void proxy_fence_global(void)
{
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

static __device__ void bulk_store(void *to, const void *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
                 "cp.async.bulk.commit_group;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
}

static __device__ void bulk_add(int *to, const int *from, unsigned bytes)
{
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;\n\t"
                 "cp.async.bulk.commit_group;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
}

/* Waits until at most this many of the thread's last bulk_store() and bulk_add() are not over. */
template <int prior> static __device__ void bulk_wait(void)
{
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(prior) : "memory");
}

/* Waits until they have all read their sources. */
static __device__ void bulk_wait_read(void)
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

#endif
