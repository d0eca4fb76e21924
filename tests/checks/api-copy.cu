/* api-copy.cu — a copy stays inside its allocations. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *from = zeros<int>(64), *to = zeros<int>(64);
    size_t n = is_right(argc, argv) ? 64 : 1 << 24;
    /* memcheck: cudaErrorInvalidValue */
    cudaMemcpy(to, from, n * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaFree(from);
    cudaFree(to);
}
