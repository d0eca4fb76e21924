/* init-bytes.cu — one byte of each word is written, and all four are read. */
#include "pair.h"

__global__ void pack(unsigned char *bytes)
{
    if (threadIdx.x % 4 == 0) bytes[threadIdx.x] = threadIdx.x;
}

__global__ void read_words(const int *words, int *out)
{
    out[threadIdx.x] = words[threadIdx.x]; /* initcheck: Uninitialized __global__ memory read */
}

HOST
{
    unsigned char *bytes = unwritten<unsigned char>(64);
    int *out = zeros<int>(16);
    if (right) cudaMemset(bytes, 0, 64);
    pack<<<1, 64>>>(bytes);
    read_words<<<1, 16>>>((const int *)bytes, out);
}
