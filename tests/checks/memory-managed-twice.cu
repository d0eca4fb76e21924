/* memory-managed-twice.cu — managed memory is freed once. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *out;
    cudaMallocManaged(&out, 64 * sizeof(int));
    cudaFree(out);
    if (!is_right(argc, argv)) cudaFree(out); /* memcheck: cudaErrorInvalidValue */
}
