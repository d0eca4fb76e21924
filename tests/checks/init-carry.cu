/* init-carry.cu — each block loads a carry, but that of the first block is never set. */
#include "pair.h"

template <bool right> __global__ void carries(const int *sums, int *carry, int blocks)
{
    int sum = 0;
    if (right) carry[0] = 0;
    for (int b = 0; b + 1 < blocks; b++) carry[b + 1] = sum += sums[b];
}

__global__ void add(int *out, const int *carry)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] += carry[blockIdx.x]; /* initcheck: Uninitialized __global__ memory read of size 4 */
}

HOST
{
    int *out = zeros<int>(4 * 64), *sums = zeros<int>(4), *carry = unwritten<int>(4);
    carries<right><<<1, 1>>>(sums, carry, 4);
    add<<<4, 64>>>(out, carry);
}
