/* race-streams-pinned.cu — a pinned buffer gets new numbers while a copy to the device may still
 * read the old ones from it. */
#include "pair.h"

enum { N = 1024 };

int main(int argc, char **argv)
{
    bool right = is_right(argc, argv);
    int *results = zeros<int>(N), *inputs = zeros<int>(N), *buffer;
    cudaStream_t up, down;
    cudaMallocHost(&buffer, N * sizeof(int));
    memset(buffer, 0, N * sizeof(int));
    cudaStreamCreateWithFlags(&up, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&down, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    cudaMemcpyAsync(inputs, buffer, N * sizeof(int), cudaMemcpyHostToDevice, up);
    if (right) cudaStreamSynchronize(up);
    cudaMemcpyAsync(buffer, results, N * sizeof(int), cudaMemcpyDeviceToHost,
                    down); /* racecheck: Race reported (no line) */
    cudaDeviceSynchronize();
    cudaFree(results);
    cudaFree(inputs);
    cudaFreeHost(buffer);
}
