/* memory-host.cu — a kernel writes memory that malloc has given to the host. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; } /* memcheck: Invalid __global__ write */

int main(int argc, char **argv)
{
    int *host = (int *)malloc(64 * sizeof(int)), *out = zeros<int>(64);
    fill<<<1, 64>>>(is_right(argc, argv) ? out : host);
    cudaDeviceSynchronize();
    cudaFree(out);
    free(host);
}
