/* api-stream.cu — a stream is used after it was destroyed. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; }

HOST
{
    int *out = zeros<int>(64);
    cudaStream_t stream = new_stream(cudaStreamDefault);
    if (!right) cudaStreamDestroy(stream);
    fill<<<1, 64, 0, stream>>>(out); /* memcheck: Program hit cudaError */
    cudaDeviceSynchronize();
    if (right) cudaStreamDestroy(stream);
}
