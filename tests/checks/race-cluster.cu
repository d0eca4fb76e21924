/* race-cluster.cu — a block stores into the shared memory of another block of its cluster, which
 * reads it behind a barrier of the cluster. __syncthreads() is a barrier of one block. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void __cluster_dims__(2) exchange(int *out)
{
    __shared__ int words[64];
    auto cluster = cg::this_cluster();
    words[threadIdx.x] = 0;
    cluster.sync();
    cluster.map_shared_rank(words, cluster.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
    if (right)
        cluster.sync();
    else
        __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = words[threadIdx.x];
    cluster.sync();
}

PAIR(exchange<right>, 4, 64, zeros<int>(256))
