/* init-copy.cu — a copy that counts elements, not bytes, leaves most of them unwritten. */
#include "pair.h"

/* initcheck: Uninitialized __global__ memory read */
__global__ void twice(const int *in, int *out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

int main(int argc, char **argv)
{
    int host[64] = {0}, *in, *out = zeros<int>(64);
    cudaMalloc(&in, sizeof host);
    cudaMemcpy(in, host, is_right(argc, argv) ? sizeof host : 64, cudaMemcpyHostToDevice);
    twice<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
