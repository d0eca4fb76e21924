/* memory-write.cu — more threads than elements: the last ones must do nothing. */
#include "pair.h"

template <bool right> __global__ void fill(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!right || i < n) out[i] = i; /* memcheck: Invalid __global__ write */
}

PAIR(fill<right>, 2, 128, zeros<int>(250), 250)
