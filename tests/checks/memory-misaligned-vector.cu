/* memory-misaligned-vector.cu — a thread stores 16 bytes at an address that is a multiple of 8. */
#include "pair.h"

__global__ void store(char *out)
{
    *(int4 *)out = make_int4(1, 2, 3, 4); /* memcheck: Invalid __global__ write of size 16 bytes */
}

HOST
{
    char *out = zeros<char>(64);
    store<<<1, 1>>>(out + (right ? 16 : 8));
}
