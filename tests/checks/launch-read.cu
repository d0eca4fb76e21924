/* launch-read.cu — a kernel launches another one, and reads what that one stores. It does not wait
 * for it, and no call in a kernel can. What comes after all of them is launched into the tail
 * stream. */
#include "pair.h"

enum { N = 64 };

__global__ void fill(int *data) { data[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */
__global__ void sum(const int *data, int *out)
{
    *out = 0;
    for (int i = 0; i < N; i++) *out += data[i];
}

template <bool right> __global__ void start(int *data, int *out)
{
    fill<<<1, N>>>(data);
    if (right)
        sum<<<1, 1, 0, cudaStreamTailLaunch>>>(data, out);
    else
        for (int i = 0; i < N; i++) *out += data[i];
}

PAIR(start<right>, 1, 1, zeros<int>(N), zeros<int>(1))
