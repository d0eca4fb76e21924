/* deadlock-successor.cu — a block waits for a later block, which may be unable to begin until the
 * first one has ended. */
#include "pair.h"

template <bool right> __global__ void pass_on(volatile int *done, int *ticket, int *out)
{
    extern __shared__ int words[];
    int place = right ? atomicAdd(ticket, 1) : gridDim.x - 1 - blockIdx.x;
    words[0] = place;
    if (place > 0) {
        /* memcheck: have begun, and all that have not ended wait; synccheck: wait */
        while (done[place - 1] == 0) continue;
    }
    out[place] = words[0];
    __threadfence();
    done[place] = 1;
}

HOST
{
    enum { BYTES = 200 << 10 }; // one block on each multiprocessor
    int processors;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    int blocks = 2 * processors, *done = zeros<int>(blocks), *out = zeros<int>(blocks);
    int *ticket = zeros<int>(1);
    auto kernel = right ? pass_on<true> : pass_on<false>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    kernel<<<blocks, 1, BYTES>>>(done, ticket, out);
}
