/* memory-vector-tail.cu — a copy by float4 has a number of elements that is not a multiple of
 * 4. */
#include "pair.h"

template <bool right> __global__ void copy(const float *in, float *out, int n)
{
    int i = 4 * threadIdx.x;
    if (!right || i + 4 <= n)
        *(float4 *)(out + i) = *(const float4 *)(in + i); /* memcheck: Invalid __global__ read */
    else
        for (; i < n; i++) out[i] = in[i];
}

PAIR(copy<right>, 1, 16, zeros<float>(62), zeros<float>(62), 62)
