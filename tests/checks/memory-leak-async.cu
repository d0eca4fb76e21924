/* memory-leak-async.cu — memory of cudaMallocAsync is not freed. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *out;
    cudaMallocAsync(&out, 64 * sizeof(int), 0); /* memcheck: Leaked */
    cudaMemsetAsync(out, 0, 64 * sizeof(int), 0);
    if (is_right(argc, argv)) cudaFreeAsync(out, 0);
    cudaDeviceSynchronize();
    cudaDeviceReset();
}
