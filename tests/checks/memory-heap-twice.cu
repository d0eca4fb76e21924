/* memory-heap-twice.cu — every thread of a block frees memory that one thread has allocated. */
#include "pair.h"

template <bool right> __global__ void use(int *out)
{
    __shared__ int *words;
    if (threadIdx.x == 0) words = (int *)malloc(32 * sizeof(int));
    __syncthreads();
    if (!words) return;
    words[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = words[threadIdx.x];
    __syncthreads();
    if (!right || threadIdx.x == 0) free(words); /* memcheck: free */
}

PAIR(use<right>, 1, 32, zeros<int>(32))
