/* memory-inner-free.cu — cudaFree takes the address that cudaMalloc returned. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    if (!is_right(argc, argv)) cudaFree(out + 1); /* memcheck: cudaErrorInvalidValue */
    cudaFree(out);
}
