/* init-vector.cu — a kernel writes three floats of each float4, and another loads all four. */
#include "pair.h"

template <bool right> __global__ void fill(float *points)
{
    float *point = points + 4 * threadIdx.x;
    for (int d = 0; d < (right ? 4 : 3); d++) point[d] = d;
}

__global__ void lengths(const float4 *points, float *out)
{
    float4 p = points[threadIdx.x]; /* initcheck: Uninitialized __global__ memory read */
    out[threadIdx.x] = p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w;
}

HOST
{
    float *points = unwritten<float>(4 * 32), *out = zeros<float>(32);
    fill<right><<<1, 32>>>(points);
    lengths<<<1, 32>>>((const float4 *)points, out);
}
