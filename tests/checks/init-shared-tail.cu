/* init-shared-tail.cu — the last tile is not full, and a block adds up all of it. */
#include "pair.h"

template <bool right> __global__ void add_up(const int *in, int *sum, int n)
{
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        tile[threadIdx.x] = in[i];
    else if (right)
        tile[threadIdx.x] = 0;
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            tile[threadIdx.x] += tile[threadIdx.x + d]; /* initcheck: Uninitialized __shared__ */
    }
    if (threadIdx.x == 0) atomicAdd(sum, tile[0]);
}

PAIR(add_up<right>, 2, 64, zeros<int>(100), zeros<int>(1), 100)
