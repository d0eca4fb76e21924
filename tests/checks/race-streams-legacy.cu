/* race-streams-legacy.cu — a kernel in the default stream waits for blocking streams, and not for
 * those of cudaStreamNonBlocking. */
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
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, right ? cudaStreamDefault : cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    fill<<<1, N, 0, stream>>>(a);
    square<<<1, N>>>(b, a);
}
