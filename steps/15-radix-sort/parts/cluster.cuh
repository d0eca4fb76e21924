/*
 * cluster.cuh — blocks of a cluster: their barrier, and stores into each other's shared memory.
 * Before Hopper there are no clusters, and a block is alone.
 */
#ifndef STEP15_CLUSTER_CUH
#define STEP15_CLUSTER_CUH

#include <stdint.h>

static __device__ unsigned cluster_rank()
{
    unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return rank;
}

static __device__ unsigned cluster_size()
{
    unsigned size = 1;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
#endif
    return size;
}

/* Stores of this thread before it arrives are visible to each thread of the cluster that has
 * waited. */
static __device__ void cluster_arrive()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}

static __device__ void cluster_wait()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

/* A barrier of the cluster, or of the block if it is alone. */
static __device__ void cluster_sync(unsigned blocks)
{
    if (blocks == 1) {
        __syncthreads(); // as the caller says at the call
    } else {
        cluster_arrive();
        cluster_wait();
    }
}

#if __CUDA_ARCH__ >= 900
/* Where `to`, an address of this block's shared memory, is in block number `rank`. */
static __device__ uint32_t address_in_block(const void *to, unsigned rank)
{
    uint32_t address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(address)
        : "r"((uint32_t)__cvta_generic_to_shared(to)), "r"(rank));
    return address;
}
#endif

/* *to = value in block number `rank`; `to` is an address of this block's shared memory. */
static __device__ void store_in_block(uint32_t *to, unsigned rank, uint32_t value)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address_in_block(to, rank)), "r"(value)
                 : "memory");
#else
    *to = value;
#endif
}

static __device__ void store_in_block(uint64_t *to, unsigned rank, uint64_t value)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("st.shared::cluster.u64 [%0], %1;" ::"r"(address_in_block(to, rank)), "l"(value)
                 : "memory");
#else
    *to = value;
#endif
}

#endif
