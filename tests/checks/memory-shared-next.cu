/* memory-shared-next.cu — an index beyond a __shared__ array leads into the next one. */
#include "pair.h"

template <bool right> __global__ void difference(const int *in, int *out)
{
    __shared__ struct {
        int tile[64], other[64];
    } s;
    int i = threadIdx.x;
    s.tile[i] = in[i];
    s.other[i] = 0;
    __syncthreads();
    int after = right && i == 63 ? 0 : s.tile[i + 1]; /* nothing: it stays in the block's memory */
    out[i] = after - s.tile[i] + s.other[i];
}

PAIR(difference<right>, 1, 64, zeros<int>(64), zeros<int>(64))
