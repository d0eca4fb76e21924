/* sync-number.cu — a block has the barriers 0 to 15, but not 16. */
#include "pair.h"

__global__ void meet(int *out, int barrier)
{
    asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); /* synccheck, memcheck: 16 */
    out[threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    meet<<<1, 64>>>(out, is_right(argc, argv) ? 15 : 16);
    cudaDeviceSynchronize();
    cudaFree(out);
}
