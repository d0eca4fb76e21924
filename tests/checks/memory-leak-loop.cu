/* memory-leak-loop.cu — each round of a loop allocates a buffer, and only the last one is
 * freed. */
#include "pair.h"

__global__ void fill(int *out, int round) { out[threadIdx.x] = round; }

int main(int argc, char **argv)
{
    bool right = is_right(argc, argv);
    int *out = nullptr;
    for (int round = 0; round < 3; round++) {
        if (right) cudaFree(out);
        cudaMalloc(&out, 64 * sizeof(int)); /* memcheck: Leaked 256 bytes */
        fill<<<1, 64>>>(out, round);
    }
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaDeviceReset();
}
