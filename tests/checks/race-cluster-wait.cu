/* race-cluster-wait.cu — a block stores into the shared memory of another one of its cluster. That
 * block must wait at the barrier of the cluster, and not only arrive, before it reads. */
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
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    if (right) cluster.barrier_wait();
    /* racecheck: hazard at __shared__; racecheck: cluster.sync() */
    out[blockIdx.x * 256 + threadIdx.x] = words[threadIdx.x];
    if (!right) cluster.barrier_wait();
}

PAIR(exchange<right>, 4, 256, zeros<int>(1024))
