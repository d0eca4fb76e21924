/* race-named.cu — each half of a block has a named barrier of its own, which orders that half. */
#include "pair.h"

template <bool right> __global__ void reverse(int *out)
{
    __shared__ int words[256];
    words[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync %0, 128;" ::"r"(1 + threadIdx.x / 128) : "memory");
    /* racecheck: RAW hazard at __shared__; racecheck: __syncthreads(); initcheck: Uninitialized */
    out[threadIdx.x] = words[threadIdx.x ^ (right ? 127 : 255)];
}

PAIR(reverse<right>, 1, 256, zeros<int>(256))
