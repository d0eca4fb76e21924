/* race-neighbour.cu — a thread reads its neighbour's word, which must have been written. */
#include "pair.h"

template <bool right> __global__ void take(int *out)
{
    __shared__ int words[256];
    words[threadIdx.x] = threadIdx.x;
    if (right) __syncthreads();
    out[threadIdx.x] = words[(threadIdx.x + 1) % 256];
}

PAIR(take<right>, 1, 256, zeros<int>(256))
