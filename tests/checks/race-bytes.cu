/* race-bytes.cu — neighbouring bytes are not the same byte, although they lie in one word. */
#include "pair.h"

template <bool right> __global__ void take(int *out)
{
    __shared__ char bytes[260];
    bytes[threadIdx.x] = (char)threadIdx.x;
    /* racecheck: RAW hazard at __shared__; racecheck: __syncwarp(); initcheck: Uninitialized */
    out[threadIdx.x] = bytes[threadIdx.x + !right];
}

PAIR(take<right>, 1, 256, zeros<int>(256))
