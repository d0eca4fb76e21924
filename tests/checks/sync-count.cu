/* sync-count.cu — a named barrier takes a number of threads that is whole warps. */
#include "pair.h"

__global__ void meet(int *out, int threads)
{
    /* synccheck, memcheck: barrier 1 waits for 48 threads */
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    out[threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    meet<<<1, 64>>>(out, is_right(argc, argv) ? 64 : 48);
    cudaDeviceSynchronize();
    cudaFree(out);
}
