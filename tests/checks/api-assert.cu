/* api-assert.cu — the host never looks at the error that an assertion of a kernel leaves. */
#include "pair.h"
#include <cassert>

__global__ void check(const int *in, int limit)
{
    assert(in[threadIdx.x] < limit); /* initcheck racecheck synccheck: assertion */
}

int main(int argc, char **argv)
{
    int *in = zeros<int>(64);
    check<<<1, 64>>>(in, is_right(argc, argv) ? 1 : 0);
    cudaDeviceSynchronize(); /* memcheck: cudaErrorAssert */
    cudaFree(in);
}
