/* race-wmma-load.cu — each warp fills a tile of shared memory, and multiplies both tiles. */
#include "matrix.cuh"

template <bool right> __global__ void multiply(float *out, const __half *in)
{
    __shared__ __align__(32) __half tiles[2][TILE];
    int warp = threadIdx.x / 32;
    fragment_a a;
    fragment_b b;
    fragment_c c;
    wmma::fill_fragment(c, 0.0f);
    ((uint4 *)tiles)[threadIdx.x] = ((const uint4 *)in)[threadIdx.x];
    if (right)
        __syncthreads();
    else
        __syncwarp();
    wmma::load_matrix_sync(a, tiles[warp], SIDE);
    /* racecheck: Race reported; initcheck: Uninitialized __shared__ */
    wmma::load_matrix_sync(b, tiles[1 - warp], SIDE);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out + warp * TILE, c, SIDE, wmma::mem_row_major);
}

PAIR(multiply<right>, 1, 64, zeros<float>(2 * TILE), zeros<__half>(2 * TILE))
