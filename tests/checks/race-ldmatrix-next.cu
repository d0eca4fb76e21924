/* race-ldmatrix-next.cu — a loop over tiles: the next one overwrites what other warps still
 * load. */
#include "matrix.cuh"

template <bool right> __global__ void load(int *out, const __half *in)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4], sum[4] = {0};
    for (int k = 0; k < 4; k++) {
        /* racecheck: Race reported */
        ((uint2 *)tile)[threadIdx.x] = ((const uint2 *)(in + k * TILE))[threadIdx.x];
        __syncthreads();
        LOAD_MATRICES(a, &tile[own_row()]);
        for (int i = 0; i < 4; i++) sum[i] ^= a[i];
        if (right) __syncthreads();
    }
    put(out, sum);
}

PAIR(load<right>, 1, 64, zeros<int>(256), zeros<__half>(4 * TILE))
