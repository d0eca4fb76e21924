/* race-wmma-store.cu — each warp multiplies a part of k, and both store their sums to one tile. */
#include "matrix.cuh"

template <bool right> __global__ void multiply(float *out, const __half *in)
{
    int warp = threadIdx.x / 32;
    fragment_a a;
    fragment_b b;
    fragment_c c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, in + warp * TILE, SIDE);
    wmma::load_matrix_sync(b, in + warp * TILE, SIDE);
    wmma::mma_sync(c, a, b, c);
    float *own = right ? out + warp * TILE : out;
    wmma::store_matrix_sync(own, c, SIDE, wmma::mem_row_major); /* racecheck: Race reported */
}

PAIR(multiply<right>, 1, 64, zeros<float>(2 * TILE), numbers<__half>(2 * TILE))
