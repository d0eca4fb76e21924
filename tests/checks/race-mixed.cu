/* race-mixed.cu — some blocks add atomically, others do not. An atomic is atomic among atomics
 * only. */
#include "pair.h"

template <bool right> __global__ void add(int *sum)
{
    if (right || blockIdx.x % 2 == 0)
        atomicAdd(sum, 1);
    else
        *sum += 1;
}

int main(int argc, char **argv)
{
    int *sum = zeros<int>(1);
    LAUNCH(add, is_right(argc, argv), 8, 1, sum);
    cudaDeviceSynchronize();
    cudaFree(sum);
}
