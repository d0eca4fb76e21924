/* race-reduction.cu — a tree of sums: each level reads what the level before has written. */
#include "pair.h"

template <bool right> __global__ void reduce(const int *in, int *out)
{
    __shared__ int words[256];
    words[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        /* racecheck: RAW hazard; racecheck: missing between them? */
        if (threadIdx.x < step) words[threadIdx.x] += words[threadIdx.x + step];
        if (right) __syncthreads();
    }
    if (threadIdx.x == 0) *out = words[0];
}

PAIR(reduce<right>, 1, 256, zeros<int>(256), zeros<int>(1))
