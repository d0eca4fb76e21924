/* sync-grid.cu — grid.sync() needs a cooperative launch. */
#include "pair.h"
#include <cooperative_groups.h>

__global__ void meet(int *out)
{
    cooperative_groups::this_grid().sync(); /* memcheck: stopped itself with a trap */
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    void *arguments[] = {&out};
    if (is_right(argc, argv))
        cudaLaunchCooperativeKernel(meet, 2, 32, arguments);
    else
        meet<<<2, 32>>>(out);
    cudaDeviceSynchronize(); /* memcheck: cudaErrorLaunchFailure */
    cudaFree(out);
}
