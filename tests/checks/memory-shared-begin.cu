/* memory-shared-begin.cu — the first thread reads its left neighbour's element of a __shared__
 * array. */
#include "pair.h"

template <bool right> __global__ void difference(const int *in, int *out)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    tile[i] = in[i];
    __syncthreads();
    int before = right && i == 0 ? 0 : tile[i - 1]; /* memcheck: Invalid __shared__ read */
    out[i] = tile[i] - before;
}

PAIR(difference<right>, 1, 64, zeros<int>(64), zeros<int>(64))
