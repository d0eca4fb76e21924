/* race-ldmatrix.cu — a block fills a tile, and each warp loads all of it into fragments. */
#include "matrix.cuh"

template <bool right> __global__ void load(int *out, const __half *in)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4];
    ((uint2 *)tile)[threadIdx.x] = ((const uint2 *)in)[threadIdx.x];
    if (right) __syncthreads();
    /* racecheck: Race reported; initcheck: Uninitialized __shared__ */
    LOAD_MATRICES(a, &tile[own_row()]);
    put(out, a);
}

PAIR(load<right>, 1, 64, zeros<int>(256), zeros<__half>(TILE))
