/* launch-shared.cu — a kernel passes a pointer to its shared memory to the kernel it launches. */
#include "pair.h"

enum { N = 64 };

__global__ void reverse(int *out, const int *in) { out[threadIdx.x] = in[N - 1 - threadIdx.x]; }

template <bool right> __global__ void start(int *out, int *data)
{
    __shared__ int words[N];
    int *in = right ? data : words;
    in[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) reverse<<<1, N>>>(out, in); /* memcheck: is a pointer to shared memory */
}

PAIR(start<right>, 1, N, zeros<int>(N), zeros<int>(N))
