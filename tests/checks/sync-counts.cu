/* sync-counts.cu — two warps give different numbers of threads for the same barrier. */
#include "pair.h"

template <bool right> __global__ void meet(int *out)
{
    int threads = right || threadIdx.x < 32 ? 64 : 96;
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory"); /* synccheck: Invalid arguments */
    out[threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(96);
    LAUNCH(meet, is_right(argc, argv), 1, 64, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
