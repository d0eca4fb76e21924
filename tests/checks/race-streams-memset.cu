/* race-streams-memset.cu — cudaMemset returns before the memory is set, and a stream of
 * cudaStreamNonBlocking does not wait for it. */
#include "pair.h"

enum { N = 1024 };

__global__ void add(int *sums) { sums[threadIdx.x] += threadIdx.x; } /* racecheck: Race reported */

int main(int argc, char **argv)
{
    int *sums;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&sums, N * sizeof(int));
    if (is_right(argc, argv))
        cudaMemsetAsync(sums, 0, N * sizeof(int), stream);
    else
        cudaMemset(sums, 0, N * sizeof(int));
    add<<<1, N, 0, stream>>>(sums);
    cudaStreamSynchronize(stream);
    cudaDeviceSynchronize();
    cudaFree(sums);
}
