/* api-cooperative.cu — a cooperative launch has more blocks than the GPU can hold at the same
 * time. */
#include "pair.h"
#include <cooperative_groups.h>

__global__ void meet(int *out)
{
    cooperative_groups::this_grid().sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

HOST
{
    int processors, on_each;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, meet, 1024, 0);
    int blocks = right ? 2 : processors * on_each + 1;
    int *out = zeros<int>(blocks * 1024);
    void *arguments[] = {&out};
    cudaLaunchCooperativeKernel(/* memcheck: cudaErrorCooperativeLaunchTooLarge */
                                meet, blocks, 1024, arguments);
}
