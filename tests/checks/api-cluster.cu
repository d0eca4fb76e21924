/* api-cluster.cu — the number of blocks is not a multiple of the size of a cluster. */
#include "pair.h"

__global__ void __cluster_dims__(4) fill(int *out) { out[blockIdx.x] = 1; }

HOST
{
    int *out = zeros<int>(8);
    fill<<<right ? 8 : 6, 1>>>(out); /* memcheck: Program hit cudaError */
}
