/* race-last-read.cu — the last block may read the counter by a plain load. The others may not. */
#include "pair.h"

template <bool right> __global__ void draw(unsigned *done, unsigned *out)
{
    __shared__ unsigned ticket;
    if (threadIdx.x == 0) {
        __threadfence();
        ticket = atomicInc(done, gridDim.x);
    }
    __syncthreads();
    /* racecheck: hazard at __global__ */
    if (threadIdx.x == 32 && (!right || ticket == gridDim.x - 1)) out[blockIdx.x] = *done;
}

PAIR(draw<right>, 8, 64, zeros<unsigned>(1), zeros<unsigned>(8))
