/* race-buffers.cu — a scan with two buffers, one to read and one to write, needs one barrier a
 * turn. With one buffer it needs two. */
#include "pair.h"

template <bool right> __global__ void scan(const int *in, int *out)
{
    __shared__ int words[2][128];
    int from = 0, i = threadIdx.x;
    words[0][i] = in[i];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        int to = right ? 1 - from : from;
        words[to][i] = words[from][i] + (i >= step ? words[from][i - step] : 0);
        __syncthreads();
        from = to;
    }
    out[i] = words[from][i];
}

PAIR(scan<right>, 1, 128, numbers<int>(128), zeros<int>(128))
