/* race-cluster-exit.cu — a block's shared memory ends with the block. It may not exit while
 * another block of its cluster still reads there. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void __cluster_dims__(2) take(int *out)
{
    __shared__ int words[64];
    auto cluster = cg::this_cluster();
    words[threadIdx.x] = threadIdx.x;
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] =
        cluster.map_shared_rank(words, cluster.block_rank() ^ 1)[63 - threadIdx.x];
    if (right) cluster.sync();
}

PAIR(take<right>, 4, 64, zeros<int>(256))
