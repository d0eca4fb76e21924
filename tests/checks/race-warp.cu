/* race-warp.cu — the last steps of a reduction in one warp, as they were written before Volta:
 * since Volta, lanes do not run in lockstep. */
#include "pair.h"

template <bool right> __global__ void sum(const int *in, int *out)
{
    __shared__ volatile int words[64];
    int lane = threadIdx.x;
    words[lane] = in[lane];
    words[lane + 32] = in[lane + 32];
    if (right) __syncwarp();
    for (int step = 32; step > 0; step /= 2) {
        /* racecheck: RAW hazard at __shared__ */
        int value = words[lane] + words[lane + step];
        if (right) __syncwarp();
        /* racecheck: WAR hazard at __shared__; racecheck: __syncwarp() */
        words[lane] = value;
        if (right) __syncwarp();
    }
    if (lane == 0) *out = words[0];
}

PAIR(sum<right>, 1, 32, numbers<int>(64), zeros<int>(1))
