/* api-shared.cu — a block uses more than 48 KiB of dynamic shared memory, which was not allowed
 * before. */
#include "pair.h"

__global__ void reverse(int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[63 - threadIdx.x];
}

HOST
{
    enum { BYTES = 64 << 10 };
    int *out = zeros<int>(64);
    if (right) cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    reverse<<<1, 64, BYTES>>>(out); /* memcheck: cudaErrorInvalidValue */
}
