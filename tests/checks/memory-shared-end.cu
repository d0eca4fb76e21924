/* memory-shared-end.cu — the last thread reads its right neighbour's element of a __shared__
 * array. */
#include "pair.h"

template <bool right> __global__ void difference(const int *in, int *out)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    tile[i] = in[i];
    __syncthreads();
    int after = right && i == 63 ? 0 : tile[i + 1]; /* memcheck: Invalid __shared__ read */
    out[i] = after - tile[i];
}

PAIR(difference<right>, 1, 64, zeros<int>(64), zeros<int>(64))
