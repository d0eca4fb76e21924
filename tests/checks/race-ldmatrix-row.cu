/* race-ldmatrix-row.cu — a lane stores a row, and gives the address of this row to ldmatrix. But
 * the elements go to the registers of other lanes. */
#include "matrix.cuh"

template <bool right> __global__ void load(int *out, const __half *in)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4];
    *(uint4 *)&tile[own_row()] = *(const uint4 *)&in[own_row()];
    if (right) __syncwarp();
    LOAD_MATRICES(a, &tile[own_row()]); /* racecheck: Race reported */
    put(out, a);
}

PAIR(load<right>, 1, 32, zeros<int>(128), zeros<__half>(TILE))
