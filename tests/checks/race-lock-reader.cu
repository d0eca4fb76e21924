/* race-lock-reader.cu — writers take the lock. Readers must take it, too. */
#include "pair.h"

template <bool right> __global__ void use(int *lock, int *pair, int *out)
{
    bool reads = blockIdx.x % 2, locks = right || !reads;
    while (locks && atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    if (reads) {
        out[blockIdx.x] = pair[0] - pair[1];
    } else {
        pair[0] += 1;
        pair[1] += 1;
    }
    __threadfence();
    if (locks) atomicExch(lock, 0);
}

PAIR(use<right>, 8, 1, zeros<int>(1), zeros<int>(2), zeros<int>(8))
