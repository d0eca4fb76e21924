/* memory-double-free.cu — memory is freed once. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *out = zeros<int>(64);
    cudaFree(out);
    if (!is_right(argc, argv)) cudaFree(out); /* memcheck: cudaErrorInvalidValue */
}
