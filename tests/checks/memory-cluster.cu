/* memory-cluster.cu — the last block of a cluster reads the shared memory of the next one. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void __cluster_dims__(2) exchange(int *out)
{
    __shared__ int word;
    cg::cluster_group cluster = cg::this_cluster();
    int next = cluster.block_rank() + 1;
    word = blockIdx.x;
    cluster.sync();
    int *theirs = cluster.map_shared_rank(&word, right ? next % 2 : next);
    out[blockIdx.x] = *theirs; /* memcheck: names the block of rank 2, in a cluster of 2 */
    cluster.sync();
}

PAIR(exchange<right>, 2, 1, zeros<int>(2))
