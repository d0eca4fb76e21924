/* init-ldmatrix.cu — a matrix has 12 rows, and a tile 16: nothing is stored to the last four. */
#include "matrix.cuh"

enum { ROWS = 12 };

template <bool right> __global__ void load(int *out, const __half *in)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4];
    bool is_inside = own_row() / SIDE < ROWS;
    if (is_inside)
        *(uint4 *)&tile[own_row()] = *(const uint4 *)&in[own_row()];
    else if (right)
        *(uint4 *)&tile[own_row()] = make_uint4(0, 0, 0, 0);
    __syncwarp();
    LOAD_MATRICES(a, &tile[own_row()]); /* initcheck: Uninitialized __shared__ */
    put(out, a);
}

PAIR(load<right>, 1, 32, zeros<int>(128), zeros<__half>(ROWS *SIDE))
