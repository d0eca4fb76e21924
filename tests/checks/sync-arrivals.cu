/* sync-arrivals.cu — a barrier object for 32 arrivals is used by 64 threads, so each warp
 * passes it alone. */
#include "pair.h"
#include <cuda/barrier>

template <bool right> __global__ void exchange(int *out)
{
    __shared__ int words[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> meeting;
    if (threadIdx.x == 0) init(&meeting, right ? 64 : 32);
    words[threadIdx.x] = 0;
    __syncthreads();
    words[threadIdx.x] = threadIdx.x;
    meeting.arrive_and_wait();
    out[threadIdx.x] = words[63 - threadIdx.x]; /* racecheck: hazard */
}

PAIR(exchange<right>, 1, 64, zeros<int>(64))
