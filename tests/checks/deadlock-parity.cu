/* deadlock-parity.cu — a stage is free at the beginning, but the writer waits until it has been
 * given back once. */
#include "bulk.h"

template <bool right> __global__ void add_up(const int *in, int *out, int tiles)
{
    __shared__ int words[32];
    __shared__ barrier full, empty;
    if (threadIdx.x == 0) {
        barrier_init(&full, 32);
        barrier_init(&empty, 32);
        barrier_init_done();
    }
    __syncthreads();
    if (threadIdx.x < 32)
        for (int t = 0; t < tiles; t++) {
            barrier_wait(&empty,
                         right ? ~t & 1 : t & 1); /* synccheck, memcheck: deadlock in barrier.cuh */
            words[threadIdx.x] = in[32 * t + threadIdx.x];
            barrier_arrive(&full);
        }
    else {
        int sum = 0;
        for (int t = 0; t < tiles; t++) {
            barrier_wait(&full, t & 1);
            sum += words[threadIdx.x - 32];
            barrier_arrive(&empty);
        }
        out[threadIdx.x - 32] = sum;
    }
}

PAIR(add_up<right>, 1, 64, zeros<int>(4 * 32), zeros<int>(32), 4)
