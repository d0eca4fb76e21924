/* race-stages-thread.cu — a pipeline of libcu++ for one thread waits for that thread's copies. The
 * block also needs a barrier. */
#include "pair.h"
#include <cuda/pipeline>

template <bool right> __global__ void reverse(int *out, const int *in)
{
    __shared__ int words[2][128];
    auto pipe = cuda::make_pipeline();
    for (int tile = 0; tile < 4; tile++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&words[tile % 2][threadIdx.x], &in[tile * 128 + threadIdx.x],
                           sizeof(int), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        if (right) __syncthreads();
        out[threadIdx.x] += words[tile % 2][127 - threadIdx.x];
        pipe.consumer_release();
    }
}

PAIR(reverse<right>, 1, 128, zeros<int>(128), zeros<int>(4 * 128))
