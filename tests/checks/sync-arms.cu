/* sync-arms.cu — a barrier in each arm of an if that divides a warp: they are not one barrier. */
#include "pair.h"

template <bool right> __global__ void meet(int *out)
{
    if (threadIdx.x % 2 == 0) {
        out[threadIdx.x] = 1;
        if (!right) __syncthreads(); /* synccheck: Divergent thread(s) in warp */
        out[threadIdx.x + 64] = 1;
    } else {
        out[threadIdx.x] = 2;
        if (!right) __syncthreads();
        out[threadIdx.x + 64] = 2;
    }
    if (right) __syncthreads();
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(128);
    LAUNCH(meet, is_right(argc, argv), 1, 64, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
