/* race-cluster-arrival.cu — threads of one block arrive at a barrier in another block of the
 * cluster, after they have stored there. The other block must wait at that barrier. */
#include "remote.cuh"

template <bool right> __global__ void __cluster_dims__(2) exchange(int *out)
{
    /* racecheck: cluster.sync() in remote.cuh; initcheck: Uninitialized in remote.cuh */
    exchange_and_arrive<true, right>(out);
}

PAIR(exchange<right>, 4, 256, zeros<int>(1024))
