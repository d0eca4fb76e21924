/* api-event-early.cu — the host asks for the time between two events before the second has
 * happened. */
#include "pair.h"

__global__ void spin(long long cycles)
{
    for (long long begin = clock64(); clock64() - begin < cycles;) continue;
}

HOST
{
    float ms;
    cudaEvent_t begin = new_event(), end = new_event();
    cudaEventRecord(begin);
    spin<<<1, 1>>>(1000000);
    cudaEventRecord(end);
    if (right) cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end); /* nothing: the emulator runs work at once */
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
}
