/* init-last.cu — a loop leaves the last element out. */
#include "pair.h"

template <bool right> __global__ void fill(int *out, int n)
{
    for (int i = threadIdx.x; right ? i < n : i < n - 1; i += blockDim.x) out[i] = i;
}

__global__ void twice(const int *in, int *out)
{
    out[threadIdx.x] = 2 * in[threadIdx.x]; /* initcheck: Uninitialized __global__ memory read */
}

HOST
{
    int *in = unwritten<int>(64), *out = zeros<int>(64);
    fill<right><<<1, 32>>>(in, 64);
    twice<<<1, 64>>>(in, out);
}
