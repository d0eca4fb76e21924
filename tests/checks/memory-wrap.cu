/* memory-wrap.cu — an unsigned index below 0 is 4 294 967 295. */
#include "pair.h"

template <bool right> __global__ void difference(const int *in, int *out)
{
    unsigned i = threadIdx.x;
    int before = right && i == 0 ? 0 : in[i - 1]; /* memcheck: Invalid __global__ read */
    out[i] = in[i] - before;
}

int main(int argc, char **argv)
{
    int *in = zeros<int>(64), *out = zeros<int>(64);
    LAUNCH(difference, is_right(argc, argv), 1, 64, in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
