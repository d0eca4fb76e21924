/* init-workspace.cu — the workspace is cleared for a small call, and then used for a larger
 * one. */
#include "pair.h"

__global__ void count(const int *in, int *bins)
{
    int bin = in[threadIdx.x] + threadIdx.x % blockDim.x;
    atomicAdd(&bins[bin], 1); /* initcheck: Uninitialized __global__ memory read of size 4 */
}

HOST
{
    int *in = zeros<int>(64), *bins = unwritten<int>(64);
    for (int n = 32; n <= 64; n *= 2) {
        if (right || n == 32) cudaMemset(bins, 0, n * sizeof(int));
        count<<<1, n>>>(in, bins);
    }
}
