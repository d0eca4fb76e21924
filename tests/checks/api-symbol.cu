/* api-symbol.cu — a copy to a __constant__ array gets an address of the host in place of the
 * array's name. */
#include "pair.h"

__constant__ int weights[16];

__global__ void look_up(int *out) { out[threadIdx.x] = weights[threadIdx.x]; }

HOST
{
    static int host[16];
    int *out = zeros<int>(16);
    const void *symbol = right ? (const void *)weights : (const void *)host;
    cudaMemcpyToSymbol(symbol, host, sizeof host); /* memcheck: cudaErrorInvalidSymbol */
    look_up<<<1, 16>>>(out);
}
