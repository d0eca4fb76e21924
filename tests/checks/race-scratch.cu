/* race-scratch.cu — two sums of a block, one after the other, in the same shared memory: a barrier
 * must lie between them. */
#include "pair.h"

__device__ int block_sum(int value, int *warps)
{
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < blockDim.x / 32; i++) sum += warps[i];
    return sum;
}

template <bool right> __global__ void sums(const int *in, int *out)
{
    __shared__ int warps[8];
    int value = in[threadIdx.x], sum = block_sum(value, warps);
    if (right) __syncthreads();
    out[threadIdx.x] = sum + block_sum(value * value, warps);
}

PAIR(sums<right>, 1, 256, numbers<int>(256), zeros<int>(256))
