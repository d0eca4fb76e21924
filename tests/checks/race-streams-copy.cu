/* race-streams-copy.cu — a copy in one stream reads what a kernel in another stream writes: no
 * event orders the two. */
#include "pair.h"

enum { N = 1024 };

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */

int main(int argc, char **argv)
{
    int *memory = zeros<int>(N), *host;
    cudaStream_t work, copies;
    cudaEvent_t filled;
    cudaMallocHost(&host, N * sizeof(int));
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaEventCreate(&filled);
    cudaDeviceSynchronize();
    fill<<<1, N, 0, work>>>(memory);
    cudaEventRecord(filled, work);
    if (is_right(argc, argv)) cudaStreamWaitEvent(copies, filled, 0);
    cudaMemcpyAsync(host, memory, N * sizeof(int), cudaMemcpyDeviceToHost, copies);
    cudaDeviceSynchronize();
    cudaFree(memory);
    cudaFreeHost(host);
}
