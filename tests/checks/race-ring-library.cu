/* race-ring-library.cu — the ring of race-ring.cu with NVIDIA's own barriers and copies (libcu++),
 * as in the CUDA programming guide. */
#include "pair.h"
#include <cuda/barrier>

#define STAGES  2
#define READERS 96 /* threads */

using barrier = cuda::barrier<cuda::thread_scope_block>;

template <bool right> __global__ void sum_tiles(int *out, const int *in, int tiles)
{
    __shared__ __align__(16) int words[STAGES][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full[STAGES], empty[STAGES];
    int sum = 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            init(&full[i], 1 + READERS);
            init(&empty[i], 1 + READERS);
        }
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    if (threadIdx.x == READERS)
        for (int tile = 0; tile < tiles; tile++) {
            int stage = tile % STAGES;
            empty[stage].arrive_and_wait();
            cuda::device::memcpy_async_tx(words[stage], in + tile * 32,
                                          cuda::aligned_size_t<16>(sizeof words[stage]),
                                          full[stage]);
            (void)cuda::device::barrier_arrive_tx(full[stage], 1, sizeof words[stage]);
        }
    if (threadIdx.x < READERS) {
        for (int i = 0; i < STAGES; i++) (void)empty[i].arrive();
        for (int tile = 0; tile < tiles; tile++) {
            int stage = tile % STAGES;
            full[stage].arrive_and_wait();
            if (!right) (void)empty[stage].arrive();
            sum += words[stage][threadIdx.x % 32];
            if (right) (void)empty[stage].arrive();
        }
    }
    out[threadIdx.x] = sum;
}

PAIR(sum_tiles<right>, 1, 128, zeros<int>(128), zeros<int>(16 * 32), 16)
