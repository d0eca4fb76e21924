/* init-copy.cu — a copy that counts elements, not bytes, leaves most of them unwritten. */
#include "pair.h"

/* initcheck: Uninitialized __global__ memory read */
__global__ void twice(const int *in, int *out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

HOST
{
    int host[64] = {0}, *in = unwritten<int>(64), *out = zeros<int>(64);
    cudaMemcpy(in, host, right ? sizeof host : 64, cudaMemcpyHostToDevice);
    twice<<<1, 64>>>(in, out);
}
