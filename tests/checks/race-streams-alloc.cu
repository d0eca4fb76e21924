/* race-streams-alloc.cu — memory that one stream has allocated is used by another one, which does
 * not wait for the allocation. */
#include "pair.h"

enum { N = 1024 };

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */

int main(int argc, char **argv)
{
    int *memory;
    cudaStream_t first = new_stream(cudaStreamDefault), second = new_stream(cudaStreamDefault);
    cudaEvent_t allocated = new_event();
    cudaMallocAsync(&memory, N * sizeof(int), first);
    cudaEventRecord(allocated, first);
    if (is_right(argc, argv)) cudaStreamWaitEvent(second, allocated, 0);
    fill<<<1, N, 0, second>>>(memory);
    cudaStreamSynchronize(second);
    cudaFreeAsync(memory, first);
    cudaStreamSynchronize(first);
}
