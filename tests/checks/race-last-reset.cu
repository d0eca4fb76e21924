/* race-last-reset.cu — the last block resets the counter for the next launch, by a plain store: its
 * ticket shows that all others have counted. No other block may reset it. */
#include "pair.h"

template <bool right> __global__ void add_up(int *parts, unsigned *done, int *sum)
{
    parts[blockIdx.x] = blockIdx.x;
    __threadfence();
    unsigned ticket = atomicInc(done, gridDim.x);
    __threadfence();
    if (ticket == gridDim.x - 1)
        for (int i = 0; i < gridDim.x; i++) *sum += parts[i];
    if (ticket == (right ? gridDim.x - 1 : gridDim.x / 2)) *done = 0;
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
