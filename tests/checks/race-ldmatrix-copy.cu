/* race-ldmatrix-copy.cu — asynchronous copies fill a tile. A barrier does not wait for them. */
#include "matrix.cuh"
#include <cuda_pipeline.h>

template <bool right> __global__ void load(int *out, const __half *in)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4];
    __pipeline_memcpy_async((uint2 *)tile + threadIdx.x, (const uint2 *)in + threadIdx.x,
                            sizeof(uint2));
    __pipeline_commit();
    if (right) __pipeline_wait_prior(0);
    __syncthreads();
    LOAD_MATRICES(a, &tile[own_row()]); /* racecheck: Race reported */
    put(out, a);
    __pipeline_wait_prior(0);
}

PAIR(load<right>, 1, 64, zeros<int>(256), zeros<__half>(TILE))
