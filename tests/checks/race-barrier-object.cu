/* race-barrier-object.cu — an asynchronous barrier: arriving alone does not wait for the others. */
#include "pair.h"
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;

template <bool right> __global__ void reverse(int *out)
{
    __shared__ int words[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier meeting;
    if (threadIdx.x == 0) init(&meeting, blockDim.x);
    __syncthreads();
    words[threadIdx.x] = threadIdx.x;
    barrier::arrival_token token = meeting.arrive();
    if (right) meeting.wait(std::move(token));
    out[threadIdx.x] = words[127 - threadIdx.x];
}

PAIR(reverse<right>, 1, 128, zeros<int>(128))
