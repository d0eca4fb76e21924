/* api-grid-height.cu — a grid has at most 65 535 blocks in y. */
#include "pair.h"

__global__ void fill(int *out) { out[blockIdx.x + blockIdx.y] = 1; }

HOST
{
    enum { BLOCKS = 1 << 16 };
    int *out = zeros<int>(BLOCKS);
    dim3 blocks = right ? dim3(BLOCKS) : dim3(1, BLOCKS);
    fill<<<blocks, 1>>>(out); /* memcheck: cudaErrorInvalid */
}
