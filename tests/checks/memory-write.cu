/* memory-write.cu — more threads than elements: the last ones must do nothing. */
#include "pair.h"

template <bool right> __global__ void fill(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!right || i < n) out[i] = i; /* memcheck: Invalid __global__ write */
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(250);
    LAUNCH(fill, is_right(argc, argv), 2, 128, out, 250);
    cudaDeviceSynchronize();
    cudaFree(out);
}
