/* memory-shared.cu — the launch asks for too little dynamic shared memory. */
#include "pair.h"

__global__ void reverse(int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x; /* memcheck: Invalid __shared__ write */
    __syncthreads();
    out[threadIdx.x] = words[63 - threadIdx.x];
}

HOST
{
    int *out = zeros<int>(64);
    reverse<<<1, 64, right ? 64 * sizeof(int) : 64>>>(out);
}
