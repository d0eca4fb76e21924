/* sync-cluster.cu — a block arrives twice at the cluster's barrier without a wait between. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void __cluster_dims__(2) meet(int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    cluster.barrier_arrive();
    if (right) cluster.barrier_wait();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    cluster.barrier_arrive(); /* synccheck, memcheck: a second barrier.cluster.arrive */
    cluster.barrier_wait();
}

PAIR(meet<right>, 2, 32, zeros<int>(64))
