/* memory-heap.cu — memory that a kernel allocates itself has bounds, too. */
#include "pair.h"

template <bool right> __global__ void use(int *out)
{
    int *own = (int *)malloc(16 * sizeof(int));
    if (!own) return;
    for (int i = 0; i < (right ? 16 : 20); i++) own[i] = i; /* memcheck: Invalid __global__ write */
    out[threadIdx.x] = own[threadIdx.x % 16];
    free(own);
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(32);
    LAUNCH(use, is_right(argc, argv), 1, 32, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
