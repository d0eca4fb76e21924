/* race-histogram-zero.cu — counters are set to 0 by some threads, and others already add to
 * them. */
#include "pair.h"

template <bool right> __global__ void count(const int *in, int *out)
{
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    if (right) __syncthreads();
    /* racecheck: WAW hazard at __shared__; racecheck: __syncthreads() */
    atomicAdd(&bins[in[threadIdx.x] % 64], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

PAIR(count<right>, 4, 256, numbers<int>(256), zeros<int>(64))
