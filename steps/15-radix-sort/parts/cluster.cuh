/*
 * cluster.cuh — blocks of a cluster: their barrier, and stores into each other's shared memory.
 * Before Hopper there are no clusters, and a block is alone.
 */
#ifndef STEP15_CLUSTER_CUH
#define STEP15_CLUSTER_CUH

#include "steps/12-pipeline/parts/barrier.cuh"

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
#else
    if (gridDim.x > 1) __trap();
#endif
    return size;
}

#if __CUDA_ARCH__ >= 900

/* A barrier of the cluster. Stores of a thread before it are visible to each thread of the cluster
 * behind it. */
static __device__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}

/* Where `to`, an address of this block's shared memory, is in block number `rank`. */
static __device__ uint32_t address_in_block(const void *to, unsigned rank)
{
    uint32_t address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(address)
        : "r"(shared_address(to)), "r"(rank));
    return address;
}

/* *to = value in block number `rank`, whose barrier `b` counts the bytes; `to` and `b` are
 * addresses of this block's shared memory. A thread that has waited there for all bytes also sees
 * them. Plain stores and a barrier of the cluster were slower when tried. */
static __device__ void send(uint32_t *to, unsigned rank, uint32_t value, barrier *b)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     address_in_block(to, rank)),
                 "r"(value), "r"(address_in_block(b, rank))
                 : "memory");
}

static __device__ void send(uint64_t *to, unsigned rank, uint64_t value, barrier *b)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];" ::"r"(
                     address_in_block(to, rank)),
                 "l"(value), "r"(address_in_block(b, rank))
                 : "memory");
}

/* Waits for the bytes that other blocks send to this block. */
static __device__ void wait_for_blocks(barrier *b, unsigned parity)
{
    unsigned done;
    do {
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(shared_address(b)), "r"(parity)
                     : "memory");
    } while (!done);
}

#endif

#endif
