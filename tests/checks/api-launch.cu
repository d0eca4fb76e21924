/* api-launch.cu — a block has at most 1024 threads. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; }

HOST
{
    int *out = zeros<int>(2048);
    fill<<<1, right ? 1024 : 2048>>>(out); /* memcheck: cudaErrorInvalid */
}
