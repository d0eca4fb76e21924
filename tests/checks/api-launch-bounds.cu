/* api-launch-bounds.cu — a kernel that was compiled for at most 128 threads a block is launched
 * with 256. */
#include "pair.h"

__global__ void __launch_bounds__(128) fill(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

HOST
{
    int *out = zeros<int>(256);
    fill<<<right ? 2 : 1, right ? 128 : 256>>>(out); /* memcheck: Program hit cudaError */
}
