/* sync-ldmatrix.cu — lanes whose rows lie beyond the matrix return before ldmatrix. */
#include "matrix.cuh"

template <bool right> __global__ void load(int *out, const __half *in, int rows)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4];
    bool is_inside = own_row() / SIDE < rows;
    unsigned lanes = __ballot_sync(~0u, right || is_inside);
    if (!right && !is_inside) return;
    uint4 zero = make_uint4(0, 0, 0, 0);
    *(uint4 *)&tile[own_row()] = is_inside ? *(const uint4 *)&in[own_row()] : zero;
    __syncwarp(lanes);
    /* synccheck, memcheck: lanes 0x0fff0fff of the warp execute ldmatrix, which needs all 32 */
    LOAD_MATRICES(a, &tile[own_row()]);
    put(out, a);
}

PAIR(load<right>, 1, 32, zeros<int>(128), zeros<__half>(TILE), 12)
