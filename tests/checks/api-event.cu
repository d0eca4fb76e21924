/* api-event.cu — the host asks for the time between two events, of which one was never
 * recorded. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; }

HOST
{
    int *out = zeros<int>(64);
    float ms;
    cudaEvent_t begin = new_event(), end = new_event();
    cudaEventRecord(begin);
    fill<<<1, 64>>>(out);
    if (right) cudaEventRecord(end);
    cudaDeviceSynchronize();
    cudaEventElapsedTime(&ms, begin, end); /* memcheck: cudaErrorInvalidResourceHandle */
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
}
