/* race-reduction.cu — a tree of sums: each level reads what the level before has written. */
#include "pair.h"

template <bool right> __global__ void reduce(const int *in, int *out)
{
    __shared__ int words[256];
    words[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) words[threadIdx.x] += words[threadIdx.x + step];
        if (right) __syncthreads();
    }
    if (threadIdx.x == 0) *out = words[0];
}

int main(int argc, char **argv)
{
    int *in = zeros<int>(256), *out = zeros<int>(1);
    LAUNCH(reduce, is_right(argc, argv), 1, 256, in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
