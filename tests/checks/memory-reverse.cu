/* memory-reverse.cu — in reverse order element i goes to n - 1 - i, not to n - i. */
#include "pair.h"

template <bool right> __global__ void reverse(const short *in, short *out, int n)
{
    int i = threadIdx.x;
    out[right ? n - 1 - i : n - i] = in[i]; /* memcheck: Invalid __global__ write of size 2 */
}

int main(int argc, char **argv)
{
    short *in = zeros<short>(64), *out = zeros<short>(64);
    LAUNCH(reverse, is_right(argc, argv), 1, 64, in, out, 64);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
