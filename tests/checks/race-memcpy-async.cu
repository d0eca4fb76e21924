/* race-memcpy-async.cu — a group's copy that arrives at a barrier of libcu++ is complete for
 * threads that have waited there. */
#include "pair.h"
#include <cooperative_groups.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

template <bool right> __global__ void reverse(int *out, const int *in)
{
    __shared__ int words[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full;
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&full, blockDim.x);
    block.sync();
    cuda::memcpy_async(block, words, in, sizeof words, full);
    auto token = full.arrive();
    if (right) full.wait(std::move(token));
    out[threadIdx.x] = words[127 - threadIdx.x];
    if (!right) full.wait(std::move(token));
}

PAIR(reverse<right>, 1, 128, zeros<int>(128), zeros<int>(128))
