/* memory-freed.cu — a kernel must not use freed memory. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; } /* memcheck: Invalid __global__ write */

int main(int argc, char **argv)
{
    bool right = is_right(argc, argv);
    int *out = zeros<int>(1 << 20);
    if (!right) cudaFree(out);
    fill<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    if (right) cudaFree(out);
}
