/* race-loop.cu — the word is read and, in the next turn, overwritten: a second barrier lies
 * between. */
#include "pair.h"

template <bool right> __global__ void rotate(int *out)
{
    __shared__ int words[256];
    int mine = threadIdx.x;
    for (int turn = 0; turn < 4; turn++) {
        words[threadIdx.x] = mine;
        __syncthreads();
        mine = words[(threadIdx.x + 1) % 256];
        if (right) __syncthreads();
    }
    out[threadIdx.x] = mine;
}

PAIR(rotate<right>, 1, 256, zeros<int>(256))
