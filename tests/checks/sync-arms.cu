/* sync-arms.cu — a barrier in each arm of an if that divides a warp: they are not one barrier. */
#include "pair.h"

template <bool right> __global__ void meet(int *out)
{
    if (threadIdx.x % 2 == 0) {
        out[threadIdx.x] = 1;
        if (!right) __syncthreads(); /* synccheck: Divergent thread(s) in warp */
        out[threadIdx.x + 64] = 1;
    } else {
        out[threadIdx.x] = 2;
        if (!right) __syncthreads();
        out[threadIdx.x + 64] = 2;
    }
    if (right) __syncthreads();
}

PAIR(meet<right>, 1, 64, zeros<int>(128))
