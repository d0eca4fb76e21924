/* race-look-back-warp.cu — decoupled look-back by a warp (Merrill and Garland). A tile's state and
 * its sum are one word of 64 bits, which is stored by one atomic. */
#include "pair.h"

enum { SUM = 1, PREFIX = 2 };

static __device__ unsigned long long word_of(int state, int sum)
{
    return (unsigned long long)state << 32 | (unsigned)sum;
}

template <bool right> static __device__ void publish(unsigned long long *to, int state, int sum)
{
    if (right)
        atomicExch(to, word_of(state, sum));
    else
        *to = word_of(state, sum);
}

template <bool right> __global__ void scan(int *data, unsigned long long *states)
{
    __shared__ int prefix;
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = __syncthreads_count(data[i] & 1);
    if (threadIdx.x < 32) {
        int exclusive = 0;
        if (threadIdx.x == 0) publish<right>(&states[blockIdx.x], blockIdx.x ? SUM : PREFIX, sum);
        for (int at = (int)(blockIdx.x - 1 - threadIdx.x); blockIdx.x > 0; at -= 32) {
            unsigned long long state = word_of(PREFIX, 0);
            while (at >= 0 && (state = *(volatile unsigned long long *)&states[at]) >> 32 == 0)
                continue;
            unsigned done = __ballot_sync(~0u, state >> 32 == PREFIX);
            int first = done ? __ffs(done) - 1 : 32;
            exclusive += __reduce_add_sync(~0u, (int)threadIdx.x <= first ? (int)state : 0);
            if (done) break;
        }
        if (threadIdx.x == 0) {
            if (blockIdx.x > 0) publish<right>(&states[blockIdx.x], PREFIX, exclusive + sum);
            prefix = exclusive;
        }
    }
    __syncthreads();
    data[i] = prefix;
}

PAIR(scan<right>, 60, 256, numbers<int>(60 * 256), zeros<unsigned long long>(60))
