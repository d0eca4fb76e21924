/* race-write-write.cu — all threads write one word, and it depends on chance which value stays. */
#include "pair.h"

template <bool right> __global__ void last(int *out)
{
    __shared__ int word;
    if (!right || threadIdx.x == 255) word = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = word;
}

PAIR(last<right>, 1, 256, zeros<int>(256))
