/* init-global.cu — fresh memory holds anything: it is written before it is read. */
#include "pair.h"

/* initcheck: Uninitialized __global__ memory read */
__global__ void twice(const int *in, int *out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

int main(int argc, char **argv)
{
    int *in, *out = zeros<int>(64);
    cudaMalloc(&in, 64 * sizeof(int));
    if (is_right(argc, argv)) cudaMemset(in, 0, 64 * sizeof(int));
    twice<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
