/* sync-tail.cu — a barrier stands inside of `if (i < n)`, and the last warps of the grid do not
 * reach it. */
#include "pair.h"

template <bool right> __global__ void reverse(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        tile[threadIdx.x] = in[i];
        if (!right) __syncthreads(); /* synccheck: Barrier without warps */
    }
    if (right) __syncthreads();
    if (i < n) out[i] = tile[threadIdx.x ^ 1];
}

PAIR(reverse<right>, 2, 128, zeros<int>(192), zeros<int>(192), 192)
