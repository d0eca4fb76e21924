/* race-cluster-flag.cu — a block reads another one's shared memory, and then signals it by an
 * atomic there. The other block waits for the signal, and then exits. */
#include "pair.h"
#include <cooperative_groups.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;

template <bool right> __global__ void __cluster_dims__(2) take(int *out)
{
    __shared__ int word, read;
    auto cluster = cg::this_cluster();
    word = 42;
    read = 0;
    cluster.sync();
    if (cluster.block_rank() == 1) {
        *out = *cluster.map_shared_rank(&word, 0);
        __threadfence();
        atomicExch(cluster.map_shared_rank(&read, 0), 1);
    } else if (right) {
        while (!atomicAdd(&read, 0)) continue;
    }
}

PAIR(take<right>, 2, 1, zeros<int>(1))
