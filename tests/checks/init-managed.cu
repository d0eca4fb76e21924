/* init-managed.cu — a kernel reads managed memory that neither host nor device has written. */
#include "pair.h"

__global__ void twice(const int *in, int *out)
{
    out[threadIdx.x] = 2 * in[threadIdx.x]; /* nothing: the host may have written it */
}

HOST
{
    int *in, *out = zeros<int>(64);
    cudaMallocManaged(&in, 64 * sizeof(int));
    keep(in, cudaFree);
    if (right) cudaMemset(in, 0, 64 * sizeof(int));
    twice<<<1, 64>>>(in, out);
}
