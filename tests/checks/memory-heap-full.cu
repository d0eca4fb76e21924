/* memory-heap-full.cu — a kernel does not check whether malloc has returned a null pointer. */
#include "pair.h"

template <bool right> __global__ void use(int *out, size_t bytes)
{
    int *own = (int *)malloc(bytes);
    if (right && !own) return;
    own[0] = 1; /* memcheck: a null pointer */
    out[threadIdx.x] = own[0];
    free(own);
}

PAIR(use<right>, 1, 32, zeros<int>(32), (size_t)1 << 30)
