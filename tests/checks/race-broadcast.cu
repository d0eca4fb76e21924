/* race-broadcast.cu — in each turn thread 0 stores the number of the next tile for its block. It
 * may do so only when all threads have read the last number. */
#include "pair.h"

template <bool right> __global__ void work(int *next, int *out)
{
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(next, 1);
        __syncthreads();
        int mine = tile;
        if (right) __syncthreads();
        if (mine >= 16) return;
        out[mine * 64 + threadIdx.x] = mine;
    }
}

PAIR(work<right>, 2, 64, zeros<int>(1), zeros<int>(16 * 64))
