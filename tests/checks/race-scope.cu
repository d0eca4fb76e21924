/* race-scope.cu — an atomic with the scope of a block is atomic within its block only. */
#include "pair.h"

template <bool right> __global__ void add(int *sum)
{
    if (right)
        atomicAdd(sum, 1);
    else
        atomicAdd_block(sum, 1);
}

int main(int argc, char **argv)
{
    int *sum = zeros<int>(1);
    LAUNCH(add, is_right(argc, argv), 8, 32, sum);
    cudaDeviceSynchronize();
    cudaFree(sum);
}
