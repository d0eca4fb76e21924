/* memory-freed-async.cu — a kernel uses memory that its stream has freed before. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; } /* memcheck: Invalid __global__ write */

int main(int argc, char **argv)
{
    bool right = is_right(argc, argv);
    cudaStream_t stream = new_stream(cudaStreamDefault);
    int *out;
    cudaMallocAsync(&out, 64 * sizeof(int), stream);
    if (!right) cudaFreeAsync(out, stream);
    fill<<<1, 64, 0, stream>>>(out);
    if (right) cudaFreeAsync(out, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
}
