/* race-write-write.cu — all threads write one word, and it depends on chance which value stays. */
#include "pair.h"

template <bool right> __global__ void last(int *out)
{
    __shared__ int word;
    if (!right || threadIdx.x == 255) word = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = word;
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(256);
    LAUNCH(last, is_right(argc, argv), 1, 256, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
