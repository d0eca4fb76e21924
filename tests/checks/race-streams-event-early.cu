/* race-streams-event-early.cu — an event is recorded before the kernel that it should stand for. */
#include "pair.h"

enum { N = 1024 };

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */
__global__ void square(int *out, const int *in)
{
    out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x];
}

HOST
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    cudaStream_t first = new_stream(cudaStreamDefault), second = new_stream(cudaStreamDefault);
    cudaEvent_t filled = new_event();
    if (!right) cudaEventRecord(filled, first);
    fill<<<1, N, 0, first>>>(a);
    if (right) cudaEventRecord(filled, first);
    cudaStreamWaitEvent(second, filled, 0);
    square<<<1, N, 0, second>>>(b, a);
}
