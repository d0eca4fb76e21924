/* init-warp-sums.cu — 32 lanes load the sums of the block's four warps. */
#include "pair.h"

template <bool right> __global__ void add_up(const int *in, int *out)
{
    __shared__ int sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    int sum = __reduce_add_sync(0xffffffff, in[threadIdx.x]);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp > 0) return;
    int value = right && lane >= warps ? 0 : sums[lane]; /* initcheck: Uninitialized __shared__ */
    sum = __reduce_add_sync(0xffffffff, value);
    if (lane == 0) *out = sum;
}

PAIR(add_up<right>, 1, 128, zeros<int>(128), zeros<int>(1))
