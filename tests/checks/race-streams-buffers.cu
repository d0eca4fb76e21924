/* race-streams-buffers.cu — two buffers in turns: the next copy into a buffer has to wait until the
 * kernel has read what is in it. */
#include "pair.h"

enum { N = 1024, BUFFERS = 2, ROUNDS = 6 };

__global__ void add(int *sums, const int *in)
{
    sums[threadIdx.x] += in[threadIdx.x]; /* racecheck: Race reported */
}

HOST
{
    int *host = pinned<int>(ROUNDS * N), *buffers[BUFFERS], *sums = zeros<int>(N);
    cudaStream_t copies = new_stream(), work = new_stream();
    cudaEvent_t copied[BUFFERS], used[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        buffers[i] = zeros<int>(N);
        cudaEventCreate(&copied[i]);
        cudaEventCreate(&used[i]);
    }
    cudaDeviceSynchronize();
    for (int round = 0; round < ROUNDS; round++) {
        int i = round % BUFFERS;
        if (right) cudaStreamWaitEvent(copies, used[i], 0);
        cudaMemcpyAsync(buffers[i], host + round * N, N * sizeof(int), cudaMemcpyHostToDevice,
                        copies);
        cudaEventRecord(copied[i], copies);
        cudaStreamWaitEvent(work, copied[i], 0);
        add<<<1, N, 0, work>>>(sums, buffers[i]);
        cudaEventRecord(used[i], work);
    }
}
