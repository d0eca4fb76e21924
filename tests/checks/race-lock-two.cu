/* race-lock-two.cu — a counter that some blocks change under one lock, and others under another
 * lock, is not guarded. */
#include "pair.h"

template <bool right> __global__ void count(int *locks, int *counter)
{
    int *lock = &locks[right ? 0 : blockIdx.x % 2];
    while (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
}

int main(int argc, char **argv)
{
    int *locks = zeros<int>(2), *counter = zeros<int>(1);
    LAUNCH(count, is_right(argc, argv), 8, 1, locks, counter);
    cudaDeviceSynchronize();
    cudaFree(locks);
    cudaFree(counter);
}
