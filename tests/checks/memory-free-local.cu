/* memory-free-local.cu — cudaFree() takes a pointer to device memory, not the pointer's address. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    if (!is_right(argc, argv)) cudaFree(&out); /* memcheck: cudaErrorInvalidValue */
    cudaFree(out);
}
