/* race-grid-counter.cu — a barrier of the grid by a counter. It needs fences before a block is
 * counted and behind its wait. */
#include "pair.h"

template <bool right> __device__ void meet(int *count)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        if (right) __threadfence();
        atomicAdd(count, 1);
        while (*(volatile int *)count < gridDim.x) continue;
        if (right) __threadfence();
    }
    __syncthreads();
}

template <bool right> __global__ void exchange(int *count, int *words, int *out)
{
    int own = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    words[own] = own;
    meet<right>(count);
    out[own] = words[all - 1 - own];
}

int main(int argc, char **argv)
{
    int *count = zeros<int>(1), *words = zeros<int>(256), *out = zeros<int>(256);
    LAUNCH(exchange, is_right(argc, argv), 4, 64, count, words, out);
    cudaDeviceSynchronize();
    cudaFree(count);
    cudaFree(words);
    cudaFree(out);
}
