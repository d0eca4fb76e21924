/* race-scan.cu — a naive scan in place: it needs two buffers, or a barrier between reading and
 * writing. */
#include "pair.h"

template <bool right> __global__ void scan(const int *in, int *out)
{
    __shared__ int words[256];
    words[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int offset = 1; offset < 256; offset *= 2) {
        int value = words[threadIdx.x];
        if (threadIdx.x >= offset) value += words[threadIdx.x - offset];
        if (right) __syncthreads();
        /* racecheck: hazard at __shared__; racecheck: __syncthreads() */
        words[threadIdx.x] = value;
        __syncthreads();
    }
    out[threadIdx.x] = words[threadIdx.x];
}

PAIR(scan<right>, 1, 256, numbers<int>(256), zeros<int>(256))
