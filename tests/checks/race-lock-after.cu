/* race-lock-after.cu — the counter is read again after the lock has been released. */
#include "pair.h"

template <bool right> __global__ void count(int *lock, int *counter, int *out)
{
    while (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    int now = *counter += 1;
    __threadfence();
    atomicExch(lock, 0);
    out[blockIdx.x] = right ? now : *counter;
}

int main(int argc, char **argv)
{
    int *lock = zeros<int>(1), *counter = zeros<int>(1), *out = zeros<int>(8);
    LAUNCH(count, is_right(argc, argv), 8, 1, lock, counter, out);
    cudaDeviceSynchronize();
    cudaFree(lock);
    cudaFree(counter);
    cudaFree(out);
}
