/* race-broadcast.cu — in each turn thread 0 stores the number of the next tile for its block. It
 * may do so only when all threads have read the last number. */
#include "pair.h"

template <bool right> __global__ void work(int *next, int *out)
{
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(next, 1);
        __syncthreads();
        int mine = tile;
        if (right) __syncthreads();
        if (mine >= 16) return;
        out[mine * 64 + threadIdx.x] = mine;
    }
}

int main(int argc, char **argv)
{
    int *next = zeros<int>(1), *out = zeros<int>(16 * 64);
    LAUNCH(work, is_right(argc, argv), 2, 64, next, out);
    cudaDeviceSynchronize();
    cudaFree(next);
    cudaFree(out);
}
