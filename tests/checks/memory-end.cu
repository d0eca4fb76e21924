/* memory-end.cu — a loop over n elements reads element n. */
#include "pair.h"

template <bool right> __global__ void add_up(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; right ? i < n : i <= n; i++)
        sum += in[i]; /* memcheck: Invalid __global__ read of size 4 bytes */
    *out = sum;
}

int main(int argc, char **argv)
{
    int *in = zeros<int>(64), *out = zeros<int>(1);
    LAUNCH(add_up, is_right(argc, argv), 1, 1, in, out, 64);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
