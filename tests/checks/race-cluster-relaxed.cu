/* race-cluster-relaxed.cu — blocks of a cluster store into each other's shared memory. A relaxed
 * arrival at their barrier releases nothing. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void __cluster_dims__(2) exchange(int *out)
{
    __shared__ int words[256];
    auto cluster = cg::this_cluster();
    words[threadIdx.x] = 0;
    cluster.sync();
    cluster.map_shared_rank(words, cluster.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
    if (right)
        asm volatile("barrier.cluster.arrive;" ::: "memory");
    else
        asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    cluster.barrier_wait();
    /* racecheck: RAW hazard at __shared__; racecheck: cluster.sync() */
    out[blockIdx.x * 256 + threadIdx.x] = words[threadIdx.x];
}

PAIR(exchange<right>, 4, 256, zeros<int>(1024))
