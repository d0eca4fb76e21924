/* launch-before.cu — all threads store, and one of them launches the kernel that reads. That kernel
 * comes after the thread that launches it, and after what a barrier orders before this thread. */
#include "pair.h"

enum { N = 64 };

__global__ void reverse(int *out, const int *in) { out[threadIdx.x] = in[N - 1 - threadIdx.x]; }

template <bool right> __global__ void start(int *out, int *data)
{
    data[threadIdx.x] = threadIdx.x; /* racecheck: Race reported */
    if (right) __syncthreads();
    if (threadIdx.x == 0) reverse<<<1, N>>>(out, data);
}

PAIR(start<right>, 1, N, zeros<int>(N), zeros<int>(N))
