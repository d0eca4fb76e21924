/* init-bytes.cu — one byte of each word is written, and all four are read. */
#include "pair.h"

__global__ void pack(unsigned char *bytes)
{
    if (threadIdx.x % 4 == 0) bytes[threadIdx.x] = threadIdx.x;
}

__global__ void read_words(const int *words, int *out)
{
    out[threadIdx.x] =
        words[threadIdx.x]; /* initcheck: Uninitialized __global__ memory read */
}

int main(int argc, char **argv)
{
    unsigned char *bytes;
    int *out = zeros<int>(16);
    cudaMalloc(&bytes, 64);
    if (is_right(argc, argv)) cudaMemset(bytes, 0, 64);
    pack<<<1, 64>>>(bytes);
    read_words<<<1, 16>>>((const int *)bytes, out);
    cudaDeviceSynchronize();
    cudaFree(bytes);
    cudaFree(out);
}
