/* memory-half.cu — a load of 8 bytes begins 4 bytes before the end of an array. */
#include "pair.h"

template <bool right> __global__ void add_pairs(const int *in, int *out, int n)
{
    int i = 2 * threadIdx.x;
    if (right && i + 1 == n) {
        out[threadIdx.x] = in[i];
        return;
    }
    int2 pair = *(const int2 *)(in + i); /* memcheck: Invalid __global__ read of size 8 */
    out[threadIdx.x] = pair.x + pair.y;
}

PAIR(add_pairs<right>, 1, 32, zeros<int>(63), zeros<int>(32), 63)
