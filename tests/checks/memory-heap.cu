/* memory-heap.cu — memory that a kernel allocates itself has bounds, too. */
#include "pair.h"

template <bool right> __global__ void use(int *out)
{
    int *own = (int *)malloc(16 * sizeof(int));
    if (!own) return;
    for (int i = 0; i < (right ? 16 : 20); i++) own[i] = i; /* memcheck: Invalid __global__ write */
    out[threadIdx.x] = own[threadIdx.x % 16];
    free(own);
}

PAIR(use<right>, 1, 32, zeros<int>(32))
