/* memory-null.cu — cudaMalloc failed, and its error is not looked at. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; } /* memcheck: Invalid __global__ write */

int main(int argc, char **argv)
{
    int *out = nullptr;
    cudaMalloc(&out, is_right(argc, argv) ? 1024 : (size_t)1 << 60);
    fill<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
