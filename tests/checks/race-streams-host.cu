/* race-streams-host.cu — a function of the host fills a pinned buffer for the next round while a
 * copy in another stream may still read it. */
#include "pair.h"

enum { N = 1024 };

static void produce(void *buffer)
{
    for (int i = 0; i < N; i++) ((int *)buffer)[i] = i + 1;
}

int main(int argc, char **argv)
{
    int *inputs = zeros<int>(N), *buffer;
    cudaStream_t copies, work;
    cudaEvent_t copied;
    cudaMallocHost(&buffer, N * sizeof(int));
    memset(buffer, 0, N * sizeof(int));
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaEventCreate(&copied);
    cudaDeviceSynchronize();
    cudaMemcpyAsync(inputs, buffer, N * sizeof(int), cudaMemcpyHostToDevice, copies);
    cudaEventRecord(copied, copies);
    if (is_right(argc, argv)) cudaStreamWaitEvent(work, copied, 0);
    cudaLaunchHostFunc(work, produce, buffer); /* racecheck: Race reported (no line) */
    cudaDeviceSynchronize();
    cudaFree(inputs);
    cudaFreeHost(buffer);
}
