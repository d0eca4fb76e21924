/* race-stmatrix.cu — each warp stores a tile, and each thread reads a part of both tiles. That
 * takes a barrier of the block, not of the warp. */
#include "matrix.cuh"

template <bool right> __global__ void store(int *out)
{
    __shared__ __align__(16) __half tiles[2][TILE];
    unsigned a[4] = {threadIdx.x, threadIdx.x + 1, threadIdx.x + 2, threadIdx.x + 3};
    STORE_MATRICES(&tiles[threadIdx.x / 32][own_row()], a);
    if (right)
        __syncthreads();
    else
        __syncwarp();
    for (int k = 0; k < 2; k++)
        /* racecheck: Race reported; initcheck: Uninitialized __shared__ */
        ((uint2 *)out)[64 * k + threadIdx.x] = ((const uint2 *)tiles[k])[threadIdx.x];
}

PAIR(store<right>, 1, 64, zeros<int>(256))
