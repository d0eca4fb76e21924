/* bulk_copy.cu — one thread has whole tiles copied into shared memory and back: cp.async.bulk, with
 * a barrier that counts bytes (mbarrier), two tiles in flight. Compute capability 9.0. */
#include "check.cuh"
#include <cuda/barrier>
#include <cuda/ptx>

/* Barriers in shared memory are initialised by init(), not by their constructor. */
#pragma nv_diag_suppress static_var_with_dynamic_init

static const int THREADS = 128, TILE = 512, TILES = 7;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
namespace ptx = cuda::ptx;

static __device__ void wait_for(uint64_t *barrier, unsigned parity)
{
    while (!ptx::mbarrier_try_wait_parity(barrier, parity)) continue;
}

static __device__ void fetch(int *to, const int *from, uint64_t *full)
{
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                   TILE * sizeof(int));
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, TILE * sizeof(int), full);
}

static __global__ void double_tiles(const int *in, int *out)
{
    __shared__ __align__(128) int stage[2][TILE];
    __shared__ uint64_t full[2];
    bool leads = threadIdx.x == 0;
    if (leads) {
        for (int k = 0; k < 2; k++) ptx::mbarrier_init(&full[k], 1);
        ptx::fence_proxy_async(ptx::space_shared);
        for (int k = 0; k < 2; k++) fetch(stage[k], in + k * TILE, &full[k]);
    }
    __syncthreads();
    for (int tile = 0; tile < TILES; tile++) {
        int *s = stage[tile % 2];
        wait_for(&full[tile % 2], tile / 2 % 2);
        for (int i = threadIdx.x; i < TILE; i += THREADS) s[i] = 2 * s[i] + tile;
        ptx::fence_proxy_async(ptx::space_shared); /* our writes before the copy's reads */
        __syncthreads();
        if (!leads) continue;
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + tile * TILE, s,
                           TILE * sizeof(int));
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>()); /* the stage may be filled again */
        if (tile + 2 < TILES) fetch(s, in + (tile + 2) * TILE, &full[tile % 2]);
    }
    if (leads) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

/* Does the same through the C++ interface, with one tile per block. */
static __global__ void by_barrier(const int *in, int *out)
{
    __shared__ __align__(128) int s[TILE];
    __shared__ cuda::barrier<cuda::thread_scope_block> full;
    if (threadIdx.x == 0) init(&full, THREADS);
    __syncthreads();
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(s, in + blockIdx.x * TILE, cuda::aligned_size_t<16>(sizeof s),
                                      full);
        token = cuda::device::barrier_arrive_tx(full, 1, sizeof s);
    } else {
        token = full.arrive();
    }
    full.wait(std::move(token));
    for (int i = threadIdx.x; i < TILE; i += THREADS)
        out[blockIdx.x * TILE + i] = 2 * s[i] + blockIdx.x;
}
#else
static __global__ void double_tiles(const int *, int *) {}
static __global__ void by_barrier(const int *, int *) {}
#endif

int main()
{
    need_capability(9, 0);
    const int N = TILES * TILE;
    std::vector<int> in = random_values<int>(N, 1000), expected(N);
    for (int i = 0; i < N; i++) expected[i] = 2 * in[i] + i / TILE;
    int *device_in = device_copy(in), *out = device_array<int>(N);
    double_tiles<<<1, THREADS>>>(device_in, out);
    CUDA_LAUNCHED();
    expect_same("pipeline", host_copy(out, N), expected);
    CUDA(cudaMemset(out, 0, N * sizeof(int)));
    by_barrier<<<TILES, THREADS>>>(device_in, out);
    CUDA_LAUNCHED();
    expect_same("tile", host_copy(out, N), expected);
    return right("bulk copies of %d tiles, in and out", TILES);
}
