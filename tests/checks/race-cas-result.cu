/* race-cas-result.cu — the value that compare and swap returns is stored, but not compared: an
 * addition is lost if another block has added before. */
#include "pair.h"

template <bool right> __global__ void add(int *sum, int *out)
{
    int old, seen;
    do {
        old = *sum;
        seen = atomicCAS(sum, old, old + 1);
    } while (right && seen != old);
    out[blockIdx.x] = seen;
}

PAIR(add<right>, 8, 1, zeros<int>(1), zeros<int>(8))
