/* race-warp-values.cu — a reduction whose sums are also kept in registers. Lanes of a warp need a
 * __syncwarp() between their loads and stores, because they need not run in step. */
#include "pair.h"

template <bool right> __global__ void reduce(int *data)
{
    __shared__ int words[64];
    int lane = threadIdx.x, sum = data[lane];
    words[lane] = sum;
    words[lane + 32] = 0;
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
        sum += words[lane + step];
        if (right) __syncwarp();
        words[lane] = sum; /* racecheck: WAR hazard at __shared__; racecheck: __syncwarp() */
        if (right) __syncwarp();
    }
    data[lane] = sum;
}

PAIR(reduce<right>, 1, 32, numbers<int>(32))
