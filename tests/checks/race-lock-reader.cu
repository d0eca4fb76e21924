/* race-lock-reader.cu — writers take the lock. Readers must take it, too. */
#include "pair.h"

template <bool right> __global__ void use(int *lock, int *pair, int *out)
{
    bool reads = blockIdx.x % 2, locks = right || !reads;
    while (locks && atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    if (reads) {
        out[blockIdx.x] = pair[0] - pair[1];
    } else {
        pair[0] += 1;
        pair[1] += 1;
    }
    __threadfence();
    if (locks) atomicExch(lock, 0);
}

int main(int argc, char **argv)
{
    int *lock = zeros<int>(1), *pair = zeros<int>(2), *out = zeros<int>(8);
    LAUNCH(use, is_right(argc, argv), 8, 1, lock, pair, out);
    cudaDeviceSynchronize();
    cudaFree(lock);
    cudaFree(pair);
    cudaFree(out);
}
