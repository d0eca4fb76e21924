/* init-block-sums.cu — 32 lanes load the sums of 20 blocks. */
#include "pair.h"

__global__ void add_blocks(const int *in, int *sums)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <bool right> __global__ void scan_sums(int *sums, int n)
{
    int value = 0;
    if (!right || threadIdx.x < n)
        value = sums[threadIdx.x]; /* initcheck: Uninitialized __global__ memory read */
    for (int d = 1; d < 32; d *= 2) {
        int before = __shfl_up_sync(0xffffffff, value, d);
        if (threadIdx.x >= d) value += before;
    }
    if (threadIdx.x < n) sums[threadIdx.x] = value;
}

HOST
{
    enum { BLOCKS = 20, THREADS = 64 };
    int *in = zeros<int>(BLOCKS * THREADS), *sums = unwritten<int>(32);
    add_blocks<<<BLOCKS, THREADS>>>(in, sums);
    scan_sums<right><<<1, 32>>>(sums, BLOCKS);
}
