/* api-cluster.cu — the number of blocks is not a multiple of the size of a cluster. */
#include "pair.h"

__global__ void __cluster_dims__(4) fill(int *out) { out[blockIdx.x] = 1; }

int main(int argc, char **argv)
{
    int *out = zeros<int>(8);
    fill<<<is_right(argc, argv) ? 8 : 6, 1>>>(out); /* memcheck: Program hit cudaError */
    cudaDeviceSynchronize();
    cudaFree(out);
}
