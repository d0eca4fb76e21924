/* race-streams-memset.cu — cudaMemset returns before the memory is set, and a stream of
 * cudaStreamNonBlocking does not wait for it. */
#include "pair.h"

enum { N = 1024 };

__global__ void add(int *sums) { sums[threadIdx.x] += threadIdx.x; } /* racecheck: Race reported */

HOST
{
    int *sums = unwritten<int>(N);
    cudaStream_t stream = new_stream();
    if (right)
        cudaMemsetAsync(sums, 0, N * sizeof(int), stream);
    else
        cudaMemset(sums, 0, N * sizeof(int));
    add<<<1, N, 0, stream>>>(sums);
    cudaStreamSynchronize(stream);
}
