/* race-histogram.cu — counting in shared memory needs atomics. */
#include "pair.h"

template <bool right> __global__ void count(const unsigned char *in, int *out)
{
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    int bin = in[threadIdx.x] % 16;
    if (right)
        atomicAdd(&bins[bin], 1);
    else
        bins[bin]++; /* racecheck: WAW hazard; racecheck: takes an atomic */
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

PAIR(count<right>, 1, 256, zeros<unsigned char>(256), zeros<int>(16))
