/* memory-end.cu — a loop over n elements reads element n. */
#include "pair.h"

template <bool right> __global__ void add_up(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; right ? i < n : i <= n; i++)
        sum += in[i]; /* memcheck: Invalid __global__ read of size 4 bytes */
    *out = sum;
}

PAIR(add_up<right>, 1, 1, zeros<int>(64), zeros<int>(1), 64)
