/* deadlock-cluster.cu — one block waits at the cluster's barrier, and the other waits for a
 * flag that is set behind it. */
#include "pair.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void __cluster_dims__(2) exchange(volatile int *flag, int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (right && blockIdx.x == 0) *flag = 1;
    if (blockIdx.x == 1)
        while (*flag == 0) continue; /* memcheck: wait; synccheck: wait */
    cluster.sync();
    if (!right && blockIdx.x == 0) *flag = 1;
    out[blockIdx.x] = 1;
}

PAIR(exchange<right>, 2, 1, zeros<int>(1), zeros<int>(2))
