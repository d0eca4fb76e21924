/* race-streams-buffers.cu — two buffers in turns: the next copy into a buffer has to wait until the
 * kernel has read what is in it. */
#include "pair.h"

enum { N = 1024, BUFFERS = 2, ROUNDS = 6 };

__global__ void add(int *sums, const int *in)
{
    sums[threadIdx.x] += in[threadIdx.x]; /* racecheck: Race reported */
}

int main(int argc, char **argv)
{
    bool right = is_right(argc, argv);
    int *host, *buffers[BUFFERS], *sums = zeros<int>(N);
    cudaStream_t copies, work;
    cudaEvent_t copied[BUFFERS], used[BUFFERS];
    cudaMallocHost(&host, ROUNDS * N * sizeof(int));
    memset(host, 0, ROUNDS * N * sizeof(int));
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
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
    cudaDeviceSynchronize();
    for (int i = 0; i < BUFFERS; i++) cudaFree(buffers[i]);
    cudaFree(sums);
    cudaFreeHost(host);
}
