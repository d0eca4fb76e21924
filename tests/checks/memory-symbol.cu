/* memory-symbol.cu — a copy to a __constant__ array is larger than the array. */
#include "pair.h"

__constant__ int weights[16];

__global__ void look_up(int *out) { out[threadIdx.x] = weights[threadIdx.x]; }

HOST
{
    int host[32] = {0}, *out = zeros<int>(16);
    cudaMemcpyToSymbol(weights, host, /* memcheck: cudaErrorInvalidValue */
                       right ? sizeof(weights) : sizeof host);
    look_up<<<1, 16>>>(out);
}
