/* race-stages-roles.cu — a pipeline of libcu++ in which the first warp copies and the others read:
 * a stage may be released only after it has been read. */
#include "pair.h"
#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

template <bool right> __global__ void hand_on(const int *in, int *out)
{
    enum { STAGES = 2, TILES = 6 };
    __shared__ int words[STAGES][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    bool copies = threadIdx.x < 32;
    auto pipe =
        cuda::make_pipeline(cg::this_thread_block(), &state,
                            copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int tile = 0; tile < TILES; tile++) {
        int *stage = words[tile % STAGES], lane = threadIdx.x % 32;
        if (copies) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[lane], &in[tile * 32 + lane], sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            if (!right) pipe.consumer_release();
            out[tile * 128 + threadIdx.x] = stage[31 - lane]; /* racecheck: hazard at __shared__ */
            if (right) pipe.consumer_release();
        }
    }
}

PAIR(hand_on<right>, 1, 128, numbers<int>(6 * 32), zeros<int>(6 * 128))
