/* deadlock-bytes.cu — an mbarrier expects twice as many bytes as are copied. */
#include "bulk.h"

template <bool right> __global__ void copy(const int *in, int *out)
{
    __shared__ __align__(16) int words[64];
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_init_done();
        barrier_arrive_expect(&full, (right ? 1 : 2) * sizeof words);
        bulk_load(words, in, sizeof words, &full);
    }
    __syncthreads();
    barrier_wait(&full, 0); /* synccheck, memcheck: deadlock in barrier.cuh */
    out[threadIdx.x] = words[threadIdx.x];
}

PAIR(copy<right>, 1, 64, zeros<int>(64), zeros<int>(64))
