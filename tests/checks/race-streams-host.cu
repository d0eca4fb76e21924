/* race-streams-host.cu — a function of the host fills a pinned buffer for the next round while a
 * copy in another stream may still read it. */
#include "pair.h"

enum { N = 1024 };

static void produce(void *buffer)
{
    for (int i = 0; i < N; i++) ((int *)buffer)[i] = i + 1;
}

HOST
{
    int *inputs = zeros<int>(N), *buffer = pinned<int>(N);
    cudaStream_t copies = new_stream(), work = new_stream();
    cudaEvent_t copied = new_event();
    cudaDeviceSynchronize();
    cudaMemcpyAsync(inputs, buffer, N * sizeof(int), cudaMemcpyHostToDevice, copies);
    cudaEventRecord(copied, copies);
    if (right) cudaStreamWaitEvent(work, copied, 0);
    cudaLaunchHostFunc(work, produce, buffer); /* racecheck: Race reported (no line) */
}
