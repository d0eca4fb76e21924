/* race-streams-event-wrong.cu — of two buffers, the stream waits for the event of the other one. */
#include "pair.h"

enum { N = 1024, BUFFERS = 2 };

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */
__global__ void add(int *sum, const int *in) { atomicAdd(sum, in[threadIdx.x]); }

HOST
{
    int *buffers[BUFFERS], *sum = zeros<int>(1);
    cudaStream_t producers[BUFFERS], consumer = new_stream();
    cudaEvent_t filled[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        buffers[i] = zeros<int>(N);
        cudaStreamCreateWithFlags(&producers[i], cudaStreamNonBlocking);
        cudaEventCreate(&filled[i]);
    }
    cudaDeviceSynchronize();
    for (int i = 0; i < BUFFERS; i++) {
        fill<<<1, N, 0, producers[i]>>>(buffers[i]);
        cudaEventRecord(filled[i], producers[i]);
    }
    cudaStreamWaitEvent(consumer, filled[0], 0);
    add<<<1, N, 0, consumer>>>(sum, buffers[0]);
    cudaStreamWaitEvent(consumer, filled[right ? 1 : 0], 0);
    add<<<1, N, 0, consumer>>>(sum, buffers[1]);
}
