/* race-lock.cu — a lock. Without fences the next owner need not see what the last one has
 * stored. */
#include "pair.h"

template <bool right> __global__ void count(int *lock, int *counter)
{
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) continue;
    if (right) __threadfence();
    *counter += 1;
    if (right) __threadfence();
    atomicExch(lock, 0);
}

int main(int argc, char **argv)
{
    int *lock = zeros<int>(1), *counter = zeros<int>(1);
    LAUNCH(count, is_right(argc, argv), 8, 32, lock, counter);
    cudaDeviceSynchronize();
    cudaFree(lock);
    cudaFree(counter);
}
