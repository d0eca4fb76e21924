/* api-copy.cu — a copy stays inside its allocations. */
#include "pair.h"

HOST
{
    int *from = zeros<int>(64), *to = zeros<int>(64);
    size_t n = right ? 64 : 1 << 24;
    /* memcheck: cudaErrorInvalidValue */
    cudaMemcpy(to, from, n * sizeof(int), cudaMemcpyDeviceToDevice);
}
