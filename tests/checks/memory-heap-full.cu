/* memory-heap-full.cu — a kernel does not check whether malloc has returned a null pointer. */
#include "pair.h"

template <bool right> __global__ void use(int *out, size_t bytes)
{
    int *own = (int *)malloc(bytes);
    if (right && !own) return;
    own[0] = 1; /* memcheck: a null pointer */
    out[threadIdx.x] = own[0];
    free(own);
}

int main(int argc, char **argv)
{
    int *out = zeros<int>(32);
    LAUNCH(use, is_right(argc, argv), 1, 32, out, (size_t)1 << 30);
    cudaDeviceSynchronize();
    cudaFree(out);
}
