/* race-bits.cu — each thread sets a bit of its own, but 32 threads share a word: a load, an or
 * and a store lose bits of other threads. */
#include "pair.h"

template <bool right> __global__ void set(unsigned *out)
{
    __shared__ unsigned words[4];
    if (threadIdx.x < 4) words[threadIdx.x] = 0;
    __syncthreads();
    unsigned bit = 1u << threadIdx.x % 32;
    if (right)
        atomicOr(&words[threadIdx.x / 32], bit);
    else
        words[threadIdx.x / 32] |= bit;
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = words[threadIdx.x];
}

PAIR(set<right>, 1, 128, zeros<unsigned>(4))
