/* memory-misaligned.cu — a float4 begins at a multiple of 16 bytes. */
#include "pair.h"

/* memcheck: Invalid __global__ read */
__global__ void copy(const float *in, float4 *out) { *out = *(const float4 *)in; }

HOST
{
    float *in = zeros<float>(8);
    float4 *out = zeros<float4>(1);
    copy<<<1, 1>>>(in + (right ? 4 : 1), out);
}
