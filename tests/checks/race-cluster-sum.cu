/* race-cluster-sum.cu — blocks of a cluster add to a counter in the first block's shared memory.
 * That block may read the sum, and exit, when all have added. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void __cluster_dims__(4) count(int *out)
{
    __shared__ int sum;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), 1);
    if (right)
        cluster.sync();
    else
        __syncthreads();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) out[blockIdx.x / 4] = sum;
}

PAIR(count<right>, 8, 64, zeros<int>(2))
