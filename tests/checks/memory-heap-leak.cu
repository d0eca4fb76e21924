/* memory-heap-leak.cu — a kernel does not free what it has allocated. */
#include "pair.h"

template <bool right> __global__ void use(int *out)
{
    int *own = (int *)malloc(16 * sizeof(int)); /* memcheck: Leaked 64 bytes (no line) */
    if (!own) return;
    own[0] = threadIdx.x;
    out[threadIdx.x] = own[0];
    if (right) free(own);
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(32);
    launch{is_right(argc, argv) ? use<true> : use<false>, 1, 32, out};
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaDeviceReset();
}
