/* memory-stack.cu — a recursion needs more than the stack of a thread. */
#include "pair.h"

__device__ __noinline__ int depth(volatile int *n, int level)
{
    volatile int frame[16];
    frame[level % 16] = level;
    if (level >= *n) return frame[level % 16];
    return depth(n, level + 1) + frame[level % 16]; /* memcheck: stack overflow */
}

__global__ void descend(int *n, int *out) { *out = depth(n, 0); }

HOST
{
    int levels = right ? 2 : 100000, *n = zeros<int>(1), *out = zeros<int>(1);
    cudaMemcpy(n, &levels, sizeof levels, cudaMemcpyHostToDevice);
    descend<<<1, 1>>>(n, out);
}
