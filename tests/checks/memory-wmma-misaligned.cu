/* memory-wmma-misaligned.cu — a tile of a wider matrix begins at column 8, a multiple of 16 bytes.
 * wmma asks for 32. */
#include "matrix.cuh"

template <bool right> __global__ void load(float *out, const __half *in)
{
    fragment_a a;
    fragment_c sum;
    wmma::load_matrix_sync(a, in + (right ? 16 : 8), 2 * SIDE); /* memcheck: Misaligned matrix */
    for (int i = 0; i < 8; i++) sum.x[i] = __half2float(a.x[i]);
    wmma::store_matrix_sync(out, sum, SIDE, wmma::mem_row_major);
}

PAIR(load<right>, 1, 32, zeros<float>(TILE), zeros<__half>(2 * TILE))
