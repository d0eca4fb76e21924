/* sync-break.cu — threads leave a loop early, and do not reach the barriers in it. */
#include "pair.h"

template <bool right> __global__ void halve(const int *in, int *out)
{
    __shared__ int left;
    int value = in[threadIdx.x] + threadIdx.x;
    for (int round = 0; round < 8; round++) {
        if (!right && value == 0) break;
        value /= 2;
        if (threadIdx.x == 0) left = 8 - round;
        __syncthreads(); /* synccheck, memcheck: Divergent thread(s) in */
        out[threadIdx.x] = value + left;
        __syncthreads();
    }
}

PAIR(halve<right>, 1, 64, zeros<int>(64), zeros<int>(64))
