/* race-last-index.cu — the ticket, kept in shared memory, tells another thread that its block is
 * the last one. That a block has the last index tells nothing about the others. */
#include "pair.h"

template <bool right> __global__ void draw(unsigned *done, int *tickets)
{
    __shared__ unsigned ticket, last;
    if (threadIdx.x == 0) {
        last = gridDim.x - 1;
        __threadfence();
        ticket = atomicInc(done, gridDim.x);
    }
    __syncthreads();
    if (threadIdx.x != 32) return;
    tickets[blockIdx.x] = ticket;
    /* racecheck: WAW hazard at __global__; racecheck: second launch */
    if ((right ? ticket : blockIdx.x) == last) *done = 0;
}

PAIR(draw<right>, 8, 64, zeros<unsigned>(1), zeros<int>(8))
