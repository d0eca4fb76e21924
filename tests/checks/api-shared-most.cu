/* api-shared-most.cu — a kernel is allowed more shared memory than a block can have. */
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
    int most, *out = zeros<int>(64);
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    if (!right) most += 1024;
    cudaFuncSetAttribute(reverse, /* memcheck: cudaErrorInvalidValue */
                         cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    reverse<<<1, 64, 256>>>(out);
}
