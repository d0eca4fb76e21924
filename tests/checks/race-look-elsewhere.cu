/* race-look-elsewhere.cu — a thread that waits for a flag looks at another word meanwhile, which
 * the flag's thread stores after the flag. A plain load needs an order. */
#include "pair.h"
#include "two_words.cuh"

template <bool right> __global__ void wait(int *flag, int *other, int *out)
{
    unsigned seen = 0;
    if (blockIdx.x == 0) {
        if (!right) store_relaxed(other, 1);
        store_relaxed(flag, 1);
        if (right) store_relaxed(other, 1);
    } else {
        do seen += right ? load_relaxed(other) : 0;
        while (!load_relaxed(flag));
        out[blockIdx.x * blockDim.x + threadIdx.x] = right ? seen : *other; /* racecheck: hazard */
    }
}

PAIR(wait<right>, 4, 32, zeros<int>(1), zeros<int>(1), zeros<int>(128))
