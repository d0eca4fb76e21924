/* race-two-words-awaited.cu — two words without a fence between them, but a thread waits for each:
 * 0 is not there yet. Waiting for the second one alone is not enough. */
#include "pair.h"
#include "two_words.cuh"

template <bool right> __global__ void chain(int *tiles, int *out)
{
    int *own = tiles + 2 * blockIdx.x;
    unsigned long long both = 0;
    if (threadIdx.x > 0) return;
    /* racecheck: is a __threadfence() missing in two_words.cuh */
    while (blockIdx.x > 0 && (right && (unsigned)both == 0 || both >> 32 == 0))
        both = (unsigned long long)load_relaxed(own - 1) << 32 | load_relaxed(own - 2);
    store_relaxed(own, (unsigned)both + 1);
    store_relaxed(own + 1, 1);
    out[blockIdx.x] = (unsigned)both;
}

PAIR(chain<right>, 20, 32, zeros<int>(40), zeros<int>(20))
