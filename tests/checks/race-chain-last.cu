/* race-chain-last.cu — a chain of flags: the last block sees what all others have stored, since
 * each has a fence between its wait and its flag. */
#include "pair.h"

template <bool right> __global__ void chain(int *data, volatile int *flags)
{
    if (threadIdx.x > 0) return;
    data[blockIdx.x] = blockIdx.x;
    if (blockIdx.x > 0)
        while (flags[blockIdx.x - 1] == 0) continue;
    if (right) __threadfence();
    flags[blockIdx.x] = 1;
    if (blockIdx.x < gridDim.x - 1) return;
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += data[i];
    data[blockIdx.x] = sum;
}

PAIR(chain<right>, 300, 32, zeros<int>(300), zeros<int>(300))
