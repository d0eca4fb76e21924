/* memory-reverse.cu — in reverse order element i goes to n - 1 - i, not to n - i. */
#include "pair.h"

template <bool right> __global__ void reverse(const short *in, short *out, int n)
{
    int i = threadIdx.x;
    out[right ? n - 1 - i : n - i] = in[i]; /* memcheck: Invalid __global__ write of size 2 */
}

PAIR(reverse<right>, 1, 64, zeros<short>(64), zeros<short>(64), 64)
