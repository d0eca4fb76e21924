/* memory-shared.cu — the launch asks for too little dynamic shared memory. */
#include "pair.h"

__global__ void reverse(int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x; /* memcheck: Invalid __shared__ write */
    __syncthreads();
    out[threadIdx.x] = words[63 - threadIdx.x];
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    reverse<<<1, 64, is_right(argc, argv) ? 64 * sizeof(int) : 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
