/* init-shared-dynamic.cu — dynamic shared memory holds two arrays, and the second is never
 * written. */
#include "pair.h"

template <bool right> __global__ void add(const int *in, int *out)
{
    extern __shared__ int words[];
    int *first = words, *second = words + blockDim.x;
    first[threadIdx.x] = in[threadIdx.x];
    if (right) second[threadIdx.x] = 0;
    __syncthreads();
    int other = blockDim.x - 1 - threadIdx.x;
    out[threadIdx.x] = first[other] + second[other]; /* initcheck: Uninitialized __shared__ */
}

HOST
{
    int *in = zeros<int>(64), *out = zeros<int>(64);
    (right ? add<true> : add<false>)<<<1, 64, 2 * 64 * sizeof(int)>>>(in, out);
}
