/* memory-read.cu — a stencil whose first thread has no left neighbour. */
#include "pair.h"

template <bool right> __global__ void difference(const int *in, int *out)
{
    /* memcheck: Invalid __global__ read */
    int i = threadIdx.x, before = right && i == 0 ? 0 : in[i - 1];
    out[i] = in[i] - before;
}

PAIR(difference<right>, 1, 64, zeros<int>(64), zeros<int>(64))
