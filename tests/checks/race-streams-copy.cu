/* race-streams-copy.cu — a copy in one stream reads what a kernel in another stream writes: no
 * event orders the two. */
#include "pair.h"

enum { N = 1024 };

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */

HOST
{
    int *memory = zeros<int>(N), *host = pinned<int>(N);
    cudaStream_t work = new_stream(), copies = new_stream();
    cudaEvent_t filled = new_event();
    cudaDeviceSynchronize();
    fill<<<1, N, 0, work>>>(memory);
    cudaEventRecord(filled, work);
    if (right) cudaStreamWaitEvent(copies, filled, 0);
    cudaMemcpyAsync(host, memory, N * sizeof(int), cudaMemcpyDeviceToHost, copies);
}
