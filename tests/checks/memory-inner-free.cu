/* memory-inner-free.cu — what is freed is the address that cudaMalloc gave. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    if (!is_right(argc, argv)) cudaFree(out + 1); /* memcheck: cudaErrorInvalidValue */
    cudaFree(out);
}
