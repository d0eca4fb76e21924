/* sync-mma.cu — odd and even lanes multiply with different signs, in two arms of an if. */
#include "matrix.cuh"

template <bool right> __global__ void multiply(int *out, const int *in)
{
    unsigned a[4], b[2], d[4] = {0};
    for (int k = 0; k < 4; k++) a[k] = in[4 * threadIdx.x + k];
    for (int k = 0; k < 2; k++) b[k] = a[k];
    if (right || in[threadIdx.x] == threadIdx.x % 2) {
        MULTIPLY_ADD(d, a, b); /* synccheck, memcheck: Divergent thread(s) in warp */
    } else {
        a[0] ^= 0x80008000;
        MULTIPLY_ADD(d, a, b);
        d[1]++;
    }
    put(out, d);
}

PAIR(multiply<right>, 1, 32, zeros<int>(128), zeros<int>(128))
