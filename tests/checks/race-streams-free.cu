/* race-streams-free.cu — cudaFree does not wait for work that uses memory of cudaMallocAsync. */
#include "pair.h"

enum { N = 1024 };

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */

int main(int argc, char **argv)
{
    int *memory;
    cudaStream_t stream = new_stream(cudaStreamDefault);
    cudaMallocAsync(&memory, N * sizeof(int), stream);
    fill<<<1, N, 0, stream>>>(memory);
    if (is_right(argc, argv)) cudaStreamSynchronize(stream);
    cudaFree(memory);
    cudaDeviceSynchronize();
}
