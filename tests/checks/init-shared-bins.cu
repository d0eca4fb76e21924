/* init-shared-bins.cu — the bins of a histogram in shared memory are not cleared. */
#include "pair.h"

template <bool right> __global__ void count(const int *in, int *out)
{
    __shared__ int bins[16];
    if (right && threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    int bin = (in[threadIdx.x] + threadIdx.x) % 16;
    atomicAdd(&bins[bin], 1); /* initcheck: Uninitialized __shared__ memory read of size 4 */
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

PAIR(count<right>, 1, 64, zeros<int>(64), zeros<int>(16))
