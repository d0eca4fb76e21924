/* race-syncwarp.cu — __syncwarp orders the lanes of a warp, not the warps of a block. */
#include "pair.h"

template <bool right> __global__ void reverse(int *out)
{
    __shared__ int words[64];
    words[threadIdx.x] = threadIdx.x;
    __syncwarp();
    int other = right ? threadIdx.x ^ 31 : 63 - threadIdx.x;
    out[threadIdx.x] = words[other];
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    LAUNCH(reverse, is_right(argc, argv), 1, 64, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
