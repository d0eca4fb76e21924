/* race-stages-sizes.cu — pipelines of libcu++ for blocks of several sizes, with one to three
 * stages: a stage may be read until consumer_release(). Each warp's first lane counts the threads
 * that leave, and the last one invalidates the pipeline's barriers. */
#include "pair.h"
#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

enum { TILES = 5, MOST = 128 };

template <bool right, int stages> __global__ void reverse(const int *in, int *out)
{
    __shared__ int words[stages][MOST];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    for (int tile = 0, next = 0; tile < TILES; tile++) {
        for (; next < TILES && next < tile + stages; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&words[next % stages][threadIdx.x],
                               &in[next * blockDim.x + threadIdx.x], sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        if (!right) pipe.consumer_release();
        int *to = out + (blockIdx.x * TILES + tile) * MOST;
        /* racecheck: hazard at __shared__ */
        to[threadIdx.x] = words[tile % stages][blockDim.x - 1 - threadIdx.x];
        if (right) pipe.consumer_release();
    }
}

HOST
{
    int *in = numbers<int>(TILES * MOST), *out = zeros<int>(2 * TILES * MOST);
    for (int threads = 32; threads <= MOST; threads += 32) {
        reverse<right, 1><<<2, threads>>>(in, out);
        reverse<right, 2><<<2, threads>>>(in, out);
        reverse<right, 3><<<2, threads>>>(in, out);
    }
}
