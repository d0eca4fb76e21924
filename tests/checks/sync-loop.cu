/* sync-loop.cu — a loop has a barrier in it, and warps go through it a different number of
 * times. */
#include "pair.h"

template <bool right> __global__ void add_up(const int *in, int *out, int n)
{
    __shared__ int words[128];
    int sum = 0, rounds = right ? (n + 127) / 128 * 128 : n;
    for (int i = threadIdx.x; i < rounds; i += 128) {
        words[threadIdx.x] = i < n ? in[i] : 0;
        __syncthreads(); /* synccheck: Barrier without warps */
        sum += words[threadIdx.x ^ 1];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

PAIR(add_up<right>, 1, 128, zeros<int>(320), zeros<int>(128), 320)
