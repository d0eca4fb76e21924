/* race-cas-max.cu — a maximum by compare and swap, tried for as long as the thread's own value
 * is the larger one. The wrong version stores it without looking again. */
#include "pair.h"

template <bool right> __global__ void maximum(int *most)
{
    int mine = blockIdx.x * 7 % 32, old = *most;
    while (mine > old) {
        int assumed = old;
        if (right)
            old = atomicCAS(most, assumed, mine);
        else
            *most = old = mine;
        if (old == assumed) break;
    }
}

PAIR(maximum<right>, 32, 1, zeros<int>(1))
