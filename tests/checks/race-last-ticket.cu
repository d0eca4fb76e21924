/* race-last-ticket.cu — thread 0 draws the ticket, and all threads of its block read it in shared
 * memory. A fence must lie between each thread's store and the ticket. The last block resets the
 * counter by a plain store, which its ticket allows. */
#include "pair.h"

template <bool right> __global__ void add_up(int *parts, unsigned *done, int *sum)
{
    __shared__ unsigned ticket;
    parts[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    if (right) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) ticket = atomicInc(done, gridDim.x);
    __syncthreads();
    if (ticket != gridDim.x - 1) return;
    if (right) __threadfence();
    int total = 0;
    for (int i = 0; i < gridDim.x; i++) total += parts[i * blockDim.x + threadIdx.x];
    atomicAdd(sum, total);
    if (threadIdx.x == 0) *done = 0;
}

PAIR(add_up<right>, 8, 64, zeros<int>(8 * 64), zeros<unsigned>(1), zeros<int>(1))
