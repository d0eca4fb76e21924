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

int main(int argc, char **argv)
{
    float *points, *out = zeros<float>(32);
    cudaMalloc(&points, 32 * sizeof(float4));
    LAUNCH(fill, is_right(argc, argv), 1, 32, points);
    lengths<<<1, 32>>>((const float4 *)points, out);
    cudaDeviceSynchronize();
    cudaFree(points);
    cudaFree(out);
}
