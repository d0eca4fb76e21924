/* race-latch.cu — a latch of libcu++: count_down() signals that one thread has arrived, wait()
 * waits for all of them. */
#include "pair.h"
#include <cuda/latch>

using latch = cuda::latch<cuda::thread_scope_block>;

template <bool right> __global__ void reverse(int *out)
{
    __shared__ int words[128];
    __shared__ alignas(latch) char memory[sizeof(latch)]; // it has no constructor without a count
    latch &all = *(latch *)memory;
    if (threadIdx.x == 0) new (&all) latch(blockDim.x);
    __syncthreads();
    words[threadIdx.x] = threadIdx.x;
    all.count_down();
    if (right) all.wait();
    out[threadIdx.x] = words[127 - threadIdx.x];
}

PAIR(reverse<right>, 1, 128, zeros<int>(128))
