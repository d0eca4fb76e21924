/* sync-line-loop.cu — odd threads are in the second iteration of a loop while even ones are after
 * it, at another barrier of the same line. */
#include "pair.h"

#define LOOP_AND_BARRIER(turns)                                                                    \
    for (int i = 0; i < turns; i++) {                                                              \
        out[threadIdx.x] = i;                                                                      \
        __syncthreads();                                                                           \
    }                                                                                              \
    if (turns == 1) __syncthreads();

template <bool right> __global__ void loop(int *out)
{
    /* synccheck: Divergent thread(s) in warp */
    LOOP_AND_BARRIER((right ? 0 : threadIdx.x % 2) + 1);
}

PAIR(loop<right>, 1, 32, zeros<int>(32))
