/* memory-heap-freed.cu — a thread reads memory of the device's heap after it has freed it. */
#include "pair.h"

template <bool right> __global__ void use(int *out)
{
    int *own = (int *)malloc(16 * sizeof(int));
    if (!own) return;
    own[0] = threadIdx.x;
    if (!right) free(own);
    out[threadIdx.x] = own[0]; /* memcheck: Invalid __global__ read of size 4 bytes */
    if (right) free(own);
}

PAIR(use<right>, 1, 32, zeros<int>(32))
