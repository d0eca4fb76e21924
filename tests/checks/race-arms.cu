/* race-arms.cu — one half of a warp stores, the other half loads. The arms of an if have no
 * order: __syncwarp() makes one. */
#include "pair.h"

template <bool right> __global__ void halves(int *out)
{
    __shared__ int words[16];
    int lane = threadIdx.x;
    if (lane < 16) words[lane] = lane;
    if (right) __syncwarp();
    if (lane >= 16) out[lane - 16] = words[31 - lane];
}

PAIR(halves<right>, 1, 32, zeros<int>(16))
