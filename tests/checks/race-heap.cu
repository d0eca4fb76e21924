/* race-heap.cu — memory that a thread has freed belongs to the next thread that allocates it, and
 * to no thread before. Memory that is handed on needs a barrier. */
#include "pair.h"

template <bool right> __global__ void use(int *data)
{
    __shared__ int *words[512];
    for (int turn = 0; turn < 20; turn++) {
        int *own = (int *)malloc(1000);
        words[threadIdx.x] = own;
        if (!own) return;
        own[0] = threadIdx.x;
        /* racecheck: RAW hazard */
        int *from = right ? own : words[threadIdx.x ^ 1];
        data[blockIdx.x * blockDim.x + threadIdx.x] += from ? from[0] : 0;
        free(own);
    }
}

PAIR(use<right>, 4, 512, numbers<int>(2048))
