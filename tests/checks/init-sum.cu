/* init-sum.cu — blocks add to a sum that was not cleared. */
#include "pair.h"

__global__ void add_up(const int *in, int *sum)
{
    atomicAdd(sum, in[threadIdx.x]); /* initcheck: Uninitialized __global__ memory read */
}

int main(int argc, char **argv)
{
    int *in = zeros<int>(64), *sum;
    cudaMalloc(&sum, sizeof(int));
    if (is_right(argc, argv)) cudaMemset(sum, 0, sizeof(int));
    add_up<<<1, 64>>>(in, sum);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(sum);
}
