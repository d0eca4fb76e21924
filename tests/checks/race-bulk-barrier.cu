/* race-bulk-barrier.cu — two bulk copies, each with a barrier: the end of one does not imply the
 * end of the other. */
#include "bulk.h"

template <bool right> __global__ void copy(int *out, const int *in)
{
    __shared__ __align__(16) int words[2][128];
    __shared__ barrier full[2];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) barrier_init(&full[i], 1);
        barrier_init_done();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++) {
            barrier_arrive_expect(&full[i], sizeof words[i]);
            bulk_load(words[i], in, sizeof words[i], &full[i]);
        }
    barrier_wait(&full[right ? 0 : 1], 0);
    /* racecheck: RAW hazard at __shared__; racecheck: No wait for that copy */
    out[threadIdx.x] = words[0][threadIdx.x];
    barrier_wait(&full[right ? 1 : 0], 0);
}

PAIR(copy<right>, 1, 128, zeros<int>(128), zeros<int>(128))
