/*
 * transpose.cuh — a matrix is transposed by tiles in shared memory: rows are loaded, columns
 * stored, and both accesses to global memory are coalesced.
 */
#ifndef STEP14_TRANSPOSE_CUH
#define STEP14_TRANSPOSE_CUH

#include <stddef.h>

#define SIDE           32 // of a tile
#define TRANSPOSE_ROWS 8  // that the threads of a block load at a time

/* Block (b, 0, c) transposes tile b of matrix c, of `height` rows; matrices follow each other. */
static __global__ void transpose(float *out, const float *in, size_t width, size_t height)
{
    // One float more in a row: the elements of a column lie in 32 banks.
    __shared__ float tile[SIDE][SIDE + 1];
    size_t tiles_across = (width + SIDE - 1) / SIDE;
    size_t x0 = blockIdx.x % tiles_across * SIDE, y0 = blockIdx.x / tiles_across * SIDE;
    size_t matrix = blockIdx.z * width * height;
    int i = threadIdx.x;

    for (int j = threadIdx.y; j < SIDE; j += TRANSPOSE_ROWS)
        if (x0 + i < width && y0 + j < height) tile[j][i] = in[matrix + (y0 + j) * width + x0 + i];

    // Other threads have loaded the column that this one stores: no read may start before.
    __syncthreads();

    for (int j = threadIdx.y; j < SIDE; j += TRANSPOSE_ROWS)
        if (x0 + j < width && y0 + i < height)
            out[matrix + (x0 + j) * height + y0 + i] = tile[i][j];
}

#endif
