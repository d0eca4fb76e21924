/* race-up-sweep.cu — the first half of a work-efficient scan: each level adds sums of the level
 * before. */
#include "pair.h"

template <bool right> __global__ void up_sweep(int *data)
{
    __shared__ int words[512];
    int i = threadIdx.x;
    words[2 * i] = data[2 * i];
    words[2 * i + 1] = data[2 * i + 1];
    for (int pairs = 256, step = 1; pairs > 0; pairs /= 2, step *= 2) {
        if (right) __syncthreads();
        /* racecheck: RAW hazard at __shared__; racecheck: __syncthreads; initcheck: Uninit */
        if (i < pairs) words[step * (2 * i + 2) - 1] += words[step * (2 * i + 1) - 1];
    }
    __syncthreads();
    data[2 * i] = words[2 * i];
    data[2 * i + 1] = words[2 * i + 1];
}

PAIR(up_sweep<right>, 1, 256, numbers<int>(512))
