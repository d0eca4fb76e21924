/*
 * async_code.cu — asynchronous copies as CUDA C++ has them: the pipeline primitives, memcpy_async,
 * cuda::barrier, cuda::pipeline, and bulk copies.
 */
#include "async_code.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_pipeline.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;

enum { MOST = 256, STAGES = 3 };

static __global__ void pipeline_primitives(int *out, const int *in, int tiles)
{
    __shared__ int s[2][MOST];
    int t = threadIdx.x, n = blockDim.x;
    __pipeline_memcpy_async(&s[0][t], &in[t], sizeof(int));
    __pipeline_commit();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            __pipeline_memcpy_async(&s[(k + 1) % 2][t], &in[(k + 1) * n + t], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[k * n + t] = s[k % 2][n - 1 - t];
        __syncthreads();
    }
}

static __global__ void forgotten_wait(int *out, const int *in, int tiles)
{
    __shared__ int s[MOST];
    int t = threadIdx.x, n = blockDim.x;
    s[t] = -1;
    __syncthreads();
    __pipeline_memcpy_async(&s[t], &in[t], sizeof(int));
    __pipeline_commit();
    __syncthreads();
    out[t] = s[n - 1 - t];
    (void)tiles;
}

static __global__ void group_memcpy(int *out, const int *in, int tiles)
{
    __shared__ alignas(16) int s[MOST];
    cg::thread_block block = cg::this_thread_block();
    int t = threadIdx.x, n = blockDim.x;
    for (int k = 0; k < tiles; k++) {
        cg::memcpy_async(block, s, in + k * n, sizeof(int) * n);
        cg::wait(block);
        out[k * n + t] = s[n - 1 - t];
        block.sync();
    }
}

static __global__ void barrier_memcpy(int *out, const int *in, int tiles)
{
    __shared__ barrier full;
    __shared__ int s[MOST];
    int t = threadIdx.x, n = blockDim.x;
    if (t == 0) init(&full, n);
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        cuda::memcpy_async(&s[t], &in[k * n + t], sizeof(int), full);
        full.arrive_and_wait();
        out[k * n + t] = s[n - 1 - t];
        __syncthreads();
    }
}

static __global__ void pipeline(int *out, const int *in, int tiles)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    __shared__ alignas(16) int s[STAGES][MOST];
    cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, n = blockDim.x;
    for (int k = 0, fetched = 0; k < tiles; k++) {
        for (; fetched < tiles && fetched < k + STAGES; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[fetched % STAGES], in + fetched * n,
                               cuda::aligned_size_t<16>(sizeof(int) * n), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        block.sync();
        out[k * n + t] = s[k % STAGES][n - 1 - t];
        block.sync();
        pipe.consumer_release();
    }
}

/* The first warp fetches, the others use: barriers with different roles. */
static __global__ void producer_warp(int *out, const int *in, int tiles)
{
    __shared__ barrier full[STAGES], empty[STAGES];
    __shared__ int s[STAGES][MOST];
    int t = threadIdx.x, n = blockDim.x - 32;
    if (t == 0)
        for (int i = 0; i < STAGES; i++) init(&full[i], blockDim.x), init(&empty[i], blockDim.x);
    __syncthreads();
    if (t < 32) {
        for (int k = 0; k < tiles; k++) {
            if (k >= STAGES) empty[k % STAGES].arrive_and_wait();
            for (int i = t; i < n; i += 32) s[k % STAGES][i] = in[k * n + i];
            (void)full[k % STAGES].arrive();
        }
    } else {
        t -= 32;
        for (int k = 0; k < tiles; k++) {
            full[k % STAGES].arrive_and_wait();
            out[k * n + t] = s[k % STAGES][n - 1 - t];
            if (k + STAGES < tiles) (void)empty[k % STAGES].arrive();
        }
    }
}

static __global__ void drop(int *out, int rounds)
{
    __shared__ barrier all;
    int t = threadIdx.x, stays = t % rounds + 1;
    if (t == 0) init(&all, blockDim.x);
    __syncthreads();
    int k = 0;
    for (; k < stays; k++) {
        if (k == stays - 1)
            all.arrive_and_drop();
        else
            all.arrive_and_wait();
    }
    out[t] = k;
}

static __global__ void barrier_that_lacks_one(int *out, int tiles)
{
    __shared__ barrier all;
    if (threadIdx.x == 0) init(&all, blockDim.x + 1);
    __syncthreads();
    all.arrive_and_wait();
    out[threadIdx.x] = tiles;
}

/* ---- bulk copies ------------------------------------------------------------------------------ */

static __global__ void bulk(int *out, const int *in, int tiles)
{
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int s[MOST], reversed[MOST];
    __shared__ uint64_t full;
    int t = threadIdx.x, n = blockDim.x;
    unsigned bytes = n * sizeof(int);
    if (t == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    for (int k = 0; k < tiles; k++) {
        if (t == 0) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                           &full, bytes);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in + k * n, bytes, &full);
        }
        while (!ptx::mbarrier_try_wait_parity(&full, k % 2)) continue;
        reversed[t] = s[n - 1 - t];
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (t == 0) {
            ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + k * n, reversed, bytes);
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        __syncthreads();
    }
#endif
}

/* One thread keeps a ring of stages filled. */
static __global__ void bulk_ring(int *out, const int *in, int tiles)
{
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int s[STAGES][MOST];
    __shared__ barrier full[STAGES], empty[STAGES];
    int t = threadIdx.x, n = blockDim.x;
    unsigned bytes = n * sizeof(int);
    if (t == 0) {
        for (int i = 0; i < STAGES; i++) init(&full[i], 1), init(&empty[i], n);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    for (int k = 0, fetched = 0; k < tiles; k++) {
        for (; t == 0 && fetched < tiles && fetched < k + STAGES - 1; fetched++) {
            int stage = fetched % STAGES, round = fetched / STAGES;
            if (round > 0) empty[stage].wait_parity((round - 1) % 2);
            cuda::device::experimental::cp_async_bulk_global_to_shared(s[stage], in + fetched * n,
                                                                       bytes, full[stage]);
            (void)cuda::device::barrier_arrive_tx(full[stage], 1, bytes);
        }
        full[k % STAGES].wait_parity(k / STAGES % 2);
        out[k * n + t] = s[k % STAGES][n - 1 - t];
        (void)empty[k % STAGES].arrive();
    }
#endif
}

/* ---- launches --------------------------------------------------------------------------------- */

#define LAUNCH(name, threads, ...)                                                                 \
    cudaError_t launch_##name(int *out, const int *in, int threads_asked, int tiles)               \
    {                                                                                              \
        (void)in;                                                                                  \
        name<<<1, threads>>>(__VA_ARGS__);                                                         \
        return cudaGetLastError();                                                                 \
    }
LAUNCH(pipeline_primitives, threads_asked, out, in, tiles)
LAUNCH(forgotten_wait, threads_asked, out, in, tiles)
LAUNCH(group_memcpy, threads_asked, out, in, tiles)
LAUNCH(barrier_memcpy, threads_asked, out, in, tiles)
LAUNCH(pipeline, threads_asked, out, in, tiles)
LAUNCH(producer_warp, threads_asked + 32, out, in, tiles)
LAUNCH(drop, threads_asked, out, tiles)
LAUNCH(barrier_that_lacks_one, threads_asked, out, tiles)
LAUNCH(bulk, threads_asked, out, in, tiles)
LAUNCH(bulk_ring, threads_asked, out, in, tiles)
