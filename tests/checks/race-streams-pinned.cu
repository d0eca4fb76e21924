/* race-streams-pinned.cu — a pinned buffer gets new numbers while a copy to the device may still
 * read the old ones from it. */
#include "pair.h"

enum { N = 1024 };

HOST
{
    int *results = zeros<int>(N), *inputs = zeros<int>(N), *buffer = pinned<int>(N);
    cudaStream_t up = new_stream(), down = new_stream();
    cudaDeviceSynchronize();
    cudaMemcpyAsync(inputs, buffer, N * sizeof(int), cudaMemcpyHostToDevice, up);
    if (right) cudaStreamSynchronize(up);
    cudaMemcpyAsync(buffer, results, N * sizeof(int), cudaMemcpyDeviceToHost,
                    down); /* racecheck: Race reported (no line) */
}
