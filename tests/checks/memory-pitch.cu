/* memory-pitch.cu — a kernel uses the pitch of rows, which is in bytes, as a number of
 * elements. */
#include "pair.h"

template <bool right> __global__ void fill(int *image, size_t pitch)
{
    int *row = right ? (int *)((char *)image + threadIdx.y * pitch) : image + threadIdx.y * pitch;
    row[threadIdx.x] = 1; /* memcheck: Invalid __global__ write of size 4 bytes */
}

HOST
{
    enum { WIDTH = 32, HEIGHT = 8 };
    int *image;
    size_t pitch;
    cudaMallocPitch(&image, &pitch, WIDTH * sizeof(int), HEIGHT);
    fill<right><<<1, dim3(WIDTH, HEIGHT)>>>(keep(image, cudaFree), pitch);
}
