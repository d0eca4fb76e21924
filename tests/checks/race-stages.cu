/* race-stages.cu — a pipeline of libcu++ for a block, with one stage: consumer_wait() waits for
 * its copies. */
#include "pair.h"
#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

template <bool right> __global__ void reverse(int *out, const int *in)
{
    __shared__ int words[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    for (int tile = 0; tile < 4; tile++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&words[threadIdx.x], &in[tile * 128 + threadIdx.x], sizeof(int), pipe);
        pipe.producer_commit();
        if (right) pipe.consumer_wait();
        out[threadIdx.x] += words[127 - threadIdx.x];
        if (!right) pipe.consumer_wait();
        pipe.consumer_release();
    }
}

PAIR(reverse<right>, 1, 128, zeros<int>(128), zeros<int>(4 * 128))
