/* deadlock-resident.cu — every block waits for all others, and the GPU cannot hold all of them
 * at the same time. */
#include "pair.h"

__global__ void meet(int *arrived, int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        /* memcheck: have begun, and all that have not ended wait; synccheck: wait */
        while (*(volatile int *)arrived < gridDim.x) continue;
        __threadfence();
    }
    __syncthreads();
    out[blockIdx.x] = words[0];
}

HOST
{
    enum { BYTES = 200 << 10 }; // one block on each multiprocessor
    int processors;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    int blocks = right ? processors : processors + 1;
    int *arrived = zeros<int>(1), *out = zeros<int>(blocks);
    cudaFuncSetAttribute(meet, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    meet<<<blocks, 32, BYTES>>>(arrived, out);
}
