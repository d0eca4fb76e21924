/* deadlock-spin.cu — thread 0 polls a counter that the other threads change only behind the
 * next barrier. */
#include "pair.h"

template <bool right> __global__ void count(volatile int *done, int *out)
{
    bool first = !right && threadIdx.x == 0;
    while (first && *done < 3) continue; /* memcheck: wait; synccheck: wait */
    __syncthreads();
    if (threadIdx.x % 32 == 0) atomicAdd((int *)done, 1);
    __syncthreads();
    out[threadIdx.x] = *done;
}

PAIR(count<right>, 1, 128, zeros<int>(1), zeros<int>(128))
