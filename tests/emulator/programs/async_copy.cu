/* async_copy.cu — copies from global to shared memory that go on while the block works: the
 * pipeline of <cuda_pipeline.h> with two stages, memcpy_async of cooperative groups, and of
 * cuda::barrier. From compute capability 8.0 on the hardware copies; before, the compiler emits
 * ordinary copies. */
#include "check.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>

/* Barriers in shared memory are initialised by init(), not by their constructor. */
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

static const int THREADS = 64, EACH = 4, TILE = THREADS * EACH, TILES = 9;

static __global__ void two_stages(const int *in, int *out)
{
    __shared__ __align__(16) int stage[2][TILE];
    int at = EACH * threadIdx.x;
    __pipeline_memcpy_async(&stage[0][at], &in[at], 16);
    __pipeline_commit();
    for (int tile = 0; tile < TILES; tile++) {
        if (tile + 1 < TILES)
            __pipeline_memcpy_async(&stage[(tile + 1) % 2][at], &in[(tile + 1) * TILE + at], 16);
        __pipeline_commit(); /* perhaps an empty one */
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int k = 0; k < EACH; k++) {
            int i = k * THREADS + threadIdx.x;
            out[tile * TILE + i] = stage[tile % 2][TILE - 1 - i] + tile;
        }
        __syncthreads();
    }
}

static __global__ void by_group(const int *in, int *out)
{
    __shared__ int s[TILE];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, s, in + blockIdx.x * TILE, sizeof s);
    cg::wait(block);
    for (int i = threadIdx.x; i < TILE; i += THREADS)
        out[blockIdx.x * TILE + i] = s[TILE - 1 - i] + blockIdx.x;
}

static __global__ void by_barrier(const int *in, int *out)
{
    __shared__ __align__(16) int s[TILE];
    __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
    if (threadIdx.x == 0) init(&arrived, THREADS);
    __syncthreads();
    int at = EACH * threadIdx.x;
    cuda::memcpy_async(s + at, in + blockIdx.x * TILE + at, cuda::aligned_size_t<16>(16), arrived);
    arrived.arrive_and_wait();
    for (int i = threadIdx.x; i < TILE; i += THREADS)
        out[blockIdx.x * TILE + i] = s[TILE - 1 - i] + blockIdx.x;
}

int main()
{
    const int N = TILES * TILE;
    std::vector<int> in = random_values<int>(N, 1000), expected(N);
    for (int i = 0; i < N; i++) expected[i] = in[i / TILE * TILE + TILE - 1 - i % TILE] + i / TILE;
    int *device_in = device_copy(in), *out = device_array<int>(N);
    for (int way = 0; way < 3; way++) {
        CUDA(cudaMemset(out, 0, N * sizeof(int)));
        if (way == 0) two_stages<<<1, THREADS>>>(device_in, out);
        if (way == 1) by_group<<<TILES, THREADS>>>(device_in, out);
        if (way == 2) by_barrier<<<TILES, THREADS>>>(device_in, out);
        CUDA_LAUNCHED();
        expect_same("out", host_copy(out, N), expected);
    }
    return right("asynchronous copies into shared memory, three ways");
}
