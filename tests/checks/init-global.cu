/* init-global.cu — fresh memory holds anything: it is written before it is read. */
#include "pair.h"

/* initcheck: Uninitialized __global__ memory read */
__global__ void twice(const int *in, int *out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

HOST
{
    int *in = unwritten<int>(64), *out = zeros<int>(64);
    if (right) cudaMemset(in, 0, 64 * sizeof(int));
    twice<<<1, 64>>>(in, out);
}
