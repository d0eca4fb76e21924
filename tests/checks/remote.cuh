/* remote.cuh — blocks of a cluster store into each other's shared memory, and arrive at a barrier
 * there: for race-cluster-arrival and race-cluster-barrier. */
#ifndef REMOTE_CUH
#define REMOTE_CUH

#include "bulk.h"
#include <cooperative_groups.h>

template <bool fence, bool waits> static __device__ void exchange_and_arrive(int *out)
{
    __shared__ int words[256];
    __shared__ barrier full;
    auto cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) {
        barrier_init(&full, 256);
        if (fence) barrier_init_done();
    }
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    cluster.barrier_wait();
    unsigned other = cluster.block_rank() ^ 1, at;
    cluster.map_shared_rank(words, other)[threadIdx.x] = threadIdx.x;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(at)
                 : "r"(shared_address(&full)), "r"(other));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at)
                 : "memory");
    if (waits) barrier_wait(&full, 0);
    out[blockIdx.x * 256 + threadIdx.x] = words[threadIdx.x];
    cluster.sync();
}

#endif
