/* init-workspace.cu — the workspace is cleared for a small call, and then used for a larger
 * one. */
#include "pair.h"

__global__ void count(const int *in, int *bins)
{
    int bin = in[threadIdx.x] + threadIdx.x % blockDim.x;
    atomicAdd(&bins[bin], 1); /* initcheck: Uninitialized __global__ memory read of size 4 */
}

int main(int argc, char **argv)
{
    bool right = is_right(argc, argv);
    int *in = zeros<int>(64), *bins;
    cudaMalloc(&bins, 64 * sizeof(int));
    for (int n = 32; n <= 64; n *= 2) {
        if (right || n == 32) cudaMemset(bins, 0, n * sizeof(int));
        count<<<1, n>>>(in, bins);
    }
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(bins);
}
