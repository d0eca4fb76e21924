/* api-heap-limit.cu — the heap of malloc in kernels gets its size after a kernel has used it. */
#include "pair.h"

__global__ void use(int *out)
{
    int *own = (int *)malloc(sizeof(int));
    if (!own) return;
    *own = threadIdx.x;
    out[threadIdx.x] = *own;
    free(own);
}

HOST
{
    int *out = zeros<int>(32);
    if (right) cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20);
    use<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    if (!right)
        cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20); /* memcheck: Program hit cudaError */
}
