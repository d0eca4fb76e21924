/* race-write-same.cu — all threads may store the same value to one word, but not different ones. */
#include "pair.h"

template <bool right> __global__ void find(int *data)
{
    __shared__ int found;
    found = 0;
    __syncthreads();
    if (data[threadIdx.x] >= 0) found = right ? 1 : threadIdx.x; /* racecheck: WAW hazard */
    __syncthreads();
    data[threadIdx.x] = found;
}

PAIR(find<right>, 1, 256, numbers<int>(256))
