/* memory-parse.cu — a kernel loads 4 bytes at once from an address that is not a multiple of 4. */
#include "pair.h"

template <bool right> __global__ void parse(const unsigned char *bytes, int *out)
{
    const unsigned char *at = bytes + 5 * threadIdx.x + 1; // a byte of kind, and 4 of a number
    if (right)
        out[threadIdx.x] = at[0] | at[1] << 8 | at[2] << 16 | at[3] << 24;
    else
        out[threadIdx.x] = *(const int *)at; /* memcheck: is misaligned */
}

PAIR(parse<right>, 1, 32, zeros<unsigned char>(5 * 32), zeros<int>(32))
