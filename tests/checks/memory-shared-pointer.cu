/* memory-shared-pointer.cu — a kernel uses a pointer to the shared memory of an earlier kernel. */
#include "pair.h"

__device__ int *saved;

__global__ void produce(int *out)
{
    __shared__ int words[64];
    words[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) saved = words;
}

template <bool right> __global__ void consume(int *out)
{
    int *from = right ? out : saved;
    out[threadIdx.x] = from[threadIdx.x] + 1; /* memcheck: it is an address of shared memory */
}

HOST
{
    int *out = zeros<int>(64);
    produce<<<1, 64>>>(out);
    consume<right><<<1, 64>>>(out);
}
