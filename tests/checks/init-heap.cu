/* init-heap.cu — a kernel counts up memory from malloc, which is not cleared. */
#include "pair.h"

template <bool right> __global__ void use(int *out)
{
    int *own = (int *)malloc(16 * sizeof(int));
    if (!own) return;
    for (int i = 0; right && i < 16; i++) own[i] = 0;
    own[threadIdx.x % 16] += 1; /* initcheck: Uninitialized __global__ memory read of size 4 */
    out[threadIdx.x] = own[threadIdx.x % 16];
    free(own);
}

PAIR(use<right>, 1, 32, zeros<int>(32))
