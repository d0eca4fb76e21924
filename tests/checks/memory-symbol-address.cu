/* memory-symbol-address.cu — the host passes a __device__ array's name, not its address. */
#include "pair.h"

__device__ int table[64];

__global__ void fill(int *out) { out[threadIdx.x] = 1; } /* memcheck: Invalid __global__ write */

int main(int argc, char **argv)
{
    int *out = table;
    if (is_right(argc, argv)) cudaGetSymbolAddress((void **)&out, table);
    fill<<<1, 64>>>(out);
    cudaDeviceSynchronize();
}
