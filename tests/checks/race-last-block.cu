/* race-last-block.cu — the last block adds up the words of all blocks. A fence must lie between a
 * block's stores and its ticket, and between the last ticket and the loads. */
#include "pair.h"

template <bool right> __global__ void add_up(int *parts, unsigned *done, int *sum)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = blockIdx.x;
        if (right) __threadfence();
        is_last = atomicAdd(done, 1) == gridDim.x - 1;
        if (right) __threadfence();
    }
    __syncthreads();
    if (!is_last || threadIdx.x > 0) return;
    int total = 0;
    for (int i = 0; i < gridDim.x; i++) total += parts[i];
    *sum = total;
}

PAIR(add_up<right>, 64, 32, zeros<int>(64), zeros<unsigned>(1), zeros<int>(1))
