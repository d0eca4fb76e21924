/* init-shared.cu — a tile with a border, of which one side is never filled. */
#include "pair.h"

template <bool right> __global__ void smooth(const int *in, int *out)
{
    __shared__ int tile[66];
    tile[threadIdx.x + 1] = in[threadIdx.x];
    if (threadIdx.x == 0) tile[0] = 0;
    if (right && threadIdx.x == 63) tile[65] = 0;
    __syncthreads();
    /* initcheck: Uninitialized __shared__ */
    out[threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}

int main(int argc, char **argv)
{
    int *in = zeros<int>(64), *out = zeros<int>(64);
    LAUNCH(smooth, is_right(argc, argv), 1, 64, in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
