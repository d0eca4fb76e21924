/* init-local.cu — a thread counts up the elements of a local array, which was not cleared. */
#include "pair.h"

template <bool right> __global__ void count(const int *in, int *out, int n)
{
    int bins[8];
    for (int b = 0; right && b < 8; b++) bins[b] = 0;
    for (int i = 0; i < n; i++) bins[in[i]]++; /* nothing: a thread's own memory is not watched */
    *out = bins[in[n - 1]];
}

PAIR(count<right>, 1, 1, zeros<int>(64), zeros<int>(1), 64)
