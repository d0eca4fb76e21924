/* race-cluster-barrier.cu — a barrier in another block's shared memory must have been initialised:
 * the other block sees that after a fence. */
#include "remote.cuh"

template <bool right> __global__ void __cluster_dims__(2) exchange(int *out)
{
    /* racecheck: WAW hazard at __shared__ in barrier.cuh */
    exchange_and_arrive<right, true>(out);
}

PAIR(exchange<right>, 4, 256, zeros<int>(1024))
