/* init-copy-tail.cu — an asynchronous copy fills a part of the tile, and the kernel reads all
 * of it. */
#include "pair.h"
#include <cuda_pipeline.h>

template <bool right> __global__ void load(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    if (i < n)
        __pipeline_memcpy_async(&tile[i], &in[i], sizeof(int));
    else if (right)
        tile[i] = 0;
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = tile[63 - i]; /* initcheck: Uninitialized __shared__ memory read of size 4 bytes */
}

PAIR(load<right>, 1, 64, zeros<int>(50), zeros<int>(64), 50)
