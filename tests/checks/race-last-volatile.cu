/* race-last-volatile.cu — the last block adds up the words that all have stored. The words are
 * volatile, which orders nothing: a fence must lie between a block's store and its ticket. */
#include "pair.h"

template <bool right> __global__ void add_up(volatile int *parts, unsigned *done, int *sum)
{
    parts[blockIdx.x] = blockIdx.x;
    if (right) __threadfence();
    if (atomicAdd(done, 1) != gridDim.x - 1) return;
    if (right) __threadfence();
    int total = 0;
    for (int i = 0; i < gridDim.x; i++) total += parts[i];
    *sum = total;
}

int main(int argc, char **argv)
{
    int *parts = zeros<int>(16), *sum = zeros<int>(1);
    unsigned *done = zeros<unsigned>(1);
    LAUNCH(add_up, is_right(argc, argv), 16, 1, parts, done, sum);
    cudaDeviceSynchronize();
    cudaFree(parts);
    cudaFree(sum);
    cudaFree(done);
}
