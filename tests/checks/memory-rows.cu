/* memory-rows.cu — a kernel exchanges the row and the column of a matrix that is not square. */
#include "pair.h"

template <bool right> __global__ void fill(int *matrix, int width)
{
    int x = threadIdx.x, y = threadIdx.y;
    int i = right ? y * width + x : x * width + y;
    matrix[i] = i; /* memcheck: Invalid __global__ write of size 4 bytes */
}

HOST
{
    enum { WIDTH = 32, HEIGHT = 8 };
    int *matrix = zeros<int>(WIDTH * HEIGHT);
    fill<right><<<1, dim3(WIDTH, HEIGHT)>>>(matrix, WIDTH);
}
