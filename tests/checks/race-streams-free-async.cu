/* race-streams-free-async.cu — a stream frees memory that a kernel in another stream may still
 * use. */
#include "pair.h"

enum { N = 1024 };

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */

int main(int argc, char **argv)
{
    int *memory;
    cudaStream_t first = new_stream(cudaStreamDefault), second = new_stream(cudaStreamDefault);
    cudaEvent_t used = new_event();
    cudaMallocAsync(&memory, N * sizeof(int), first);
    cudaStreamSynchronize(first);
    fill<<<1, N, 0, second>>>(memory);
    cudaEventRecord(used, second);
    if (is_right(argc, argv)) cudaStreamWaitEvent(first, used, 0);
    cudaFreeAsync(memory, first);
    cudaDeviceSynchronize();
}
