/*
 * cooperative.cu — threads that wait for each other: asynchronous copies of CUDA C++ (the pipeline
 * primitives, memcpy_async, cuda::barrier, cuda::pipeline, bulk copies); thread block clusters and
 * their shared memory; grids, blocks and tiles of cooperative groups, and clocks.
 */
#include "check.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_pipeline.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

static bool is_hopper()
{
    int major;
    CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    return major >= 9;
}

/* Each kernel reverses the elements of every tile, which has one for each thread. For compute_75
 * the same sources become plain loads and stores. */
namespace async_copies
{
using barrier = cuda::barrier<cuda::thread_scope_block>;

enum { THREADS = 128, TILES = 7, ALL = THREADS * TILES };

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

/* Threads leave a barrier one after the other; out[t] = rounds that thread t took part in. */
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

static const struct {
    const char *name;
    void (*kernel)(int *, const int *, int);
    bool is_hoppers;
} ways[] = {
    {"pipeline primitives", pipeline_primitives, false},
    {"memcpy_async of a group", group_memcpy, false},
    {"memcpy_async with a barrier", barrier_memcpy, false},
    {"a pipeline", pipeline, false},
    {"bulk copies", bulk, true},
    {"a ring of bulk copies", bulk_ring, true},
};

static int run()
{
    std::vector<int> in(ALL), reversed(ALL), rounds(THREADS);
    for (int i = 0; i < ALL; i++) {
        in[i] = 3 * i + 1;
        reversed[i] = 3 * (i / THREADS * THREADS + THREADS - 1 - i % THREADS) + 1;
    }
    int *device_in = device_copy(in), *out = device_array<int>(ALL);
    for (auto &way : ways) {
        if (way.is_hoppers && !is_hopper()) continue;
        CUDA(cudaMemset(out, 0, ALL * sizeof *out));
        way.kernel<<<1, THREADS>>>(out, device_in, TILES);
        CUDA_LAUNCHED();
        expect_same(way.name, host_copy(out, ALL), reversed);
    }
    drop<<<1, THREADS>>>(out, TILES);
    CUDA_LAUNCHED();
    for (int t = 0; t < THREADS; t++) rounds[t] = t % TILES + 1;
    expect_same("rounds", host_copy(out, THREADS), rounds);
    return right("asynchronous copies, and a barrier that threads leave");
}
} // namespace async_copies

/* Blocks of 64 threads in clusters, mostly of 4: what a block knows of its cluster, and what it
 * gets from its neighbours. Compute capability 9.0; the limits are an H200's. */
namespace clusters
{
enum { THREADS = 64, BLOCKS = 12, ALL = BLOCKS * THREADS, CLUSTER = 4, BINS = 64 };

#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
#define HAS_CLUSTERS       1
#define CLUSTER_OF(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define HAS_CLUSTERS 0
#define CLUSTER_OF(blocks)
#endif

struct cluster_view {
    unsigned rank, blocks, id[3], index[3], size[3], grid[3], is_explicit;
};

static __global__ void view(cluster_view *out)
{
#if HAS_CLUSTERS
    cg::cluster_group c = cg::this_cluster();
    dim3 index = c.block_index();
    unsigned id[3], size[3], grid[3], is_explicit;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id[0]));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(id[1]));
    asm("mov.u32 %0, %%clusterid.z;" : "=r"(id[2]));
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size[0]));
    asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(size[1]));
    asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(size[2]));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(grid[0]));
    asm("mov.u32 %0, %%nclusterid.y;" : "=r"(grid[1]));
    asm("mov.u32 %0, %%nclusterid.z;" : "=r"(grid[2]));
    asm("{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}"
        : "=r"(is_explicit));
    if (threadIdx.x == 0) {
        int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        out[block] = {c.block_rank(),
                      c.num_blocks(),
                      {id[0], id[1], id[2]},
                      {index.x, index.y, index.z},
                      {size[0], size[1], size[2]},
                      {grid[0], grid[1], grid[2]},
                      is_explicit};
    }
#endif
}

static __global__ void CLUSTER_OF(4) neighbours(int *out, const int *in)
{
#if HAS_CLUSTERS
    extern __shared__ int s[];
    cg::cluster_group c = cg::this_cluster();
    int t = threadIdx.x, rank = c.block_rank(), i = blockIdx.x * THREADS + t;
    s[t] = in[i];
    c.sync();
    int value = c.map_shared_rank(s, (rank + 1) % c.num_blocks())[t];
    c.barrier_arrive();
    c.barrier_wait();
    atomicAdd(c.map_shared_rank(s, 0) + t, value);
    c.sync();
    out[i] = rank == 0 ? s[t] : value;
    c.sync();
#endif
}

/* Each block of a cluster keeps a part of the bins. */
static __global__ void histogram(int *out, const int *in, int n)
{
#if HAS_CLUSTERS
    __shared__ int bins[BINS];
    cg::cluster_group c = cg::this_cluster();
    int part = BINS / c.num_blocks(), t = threadIdx.x;
    if (t < part) bins[t] = 0;
    c.sync();
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        atomicAdd(c.map_shared_rank(bins, in[i] / part) + in[i] % part, 1);
    c.sync();
    if (t < part) atomicAdd(&out[c.block_rank() * part + t], bins[t]);
#endif
}

/* Each block copies its tile to the next one's shared memory, and signals its mbarrier. */
static __global__ void CLUSTER_OF(4) push(int *out, const int *in)
{
#if HAS_CLUSTERS
    __shared__ alignas(16) int mine[THREADS];
    __shared__ alignas(16) int got[THREADS];
    __shared__ uint64_t full;
    cg::cluster_group c = cg::this_cluster();
    int t = threadIdx.x, next = (c.block_rank() + 1) % c.num_blocks();
    mine[t] = in[blockIdx.x * THREADS + t];
    if (t == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                       sizeof got);
    }
    ptx::fence_proxy_async(ptx::space_shared);
    c.sync();
    if (t == 0)
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, c.map_shared_rank(got, next),
                           mine, sizeof mine, c.map_shared_rank(&full, next));
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) continue;
    out[blockIdx.x * THREADS + t] = got[t];
    c.sync();
#endif
}

static __global__ void CLUSTER_OF(4) addresses(int *out)
{
#if HAS_CLUSTERS
    __shared__ int s;
    __shared__ int *table[4];
    cg::cluster_group c = cg::this_cluster();
    unsigned rank = c.block_rank(), next = (rank + 1) % 4;
    s = 100 + rank;
    c.map_shared_rank(table, next)[rank] = &s;
    c.sync();
    bool right = c.query_shared_rank(&s) == rank;
    right = right && c.map_shared_rank(&s, rank) == &s;
    right = right && c.query_shared_rank(c.map_shared_rank(&s, next)) == next;
    right = right && __isShared(&s) && !__isShared(c.map_shared_rank(&s, next));
    right = right && __isClusterShared(c.map_shared_rank(&s, next));
    right = right && *table[(rank + 3) % 4] == 100 + (int)(rank + 3) % 4;
    out[rank] = right;
    c.sync();
#endif
}

static cudaLaunchConfig_t configuration(dim3 blocks, dim3 cluster, cudaLaunchAttribute *attribute)
{
    cudaLaunchConfig_t config = {};
    attribute->id = cudaLaunchAttributeClusterDimension;
    attribute->val.clusterDim = {cluster.x, cluster.y, cluster.z};
    config.gridDim = blocks;
    config.blockDim = THREADS;
    config.attrs = attribute;
    config.numAttrs = 1;
    return config;
}

template <typename... P, typename... A>
static cudaError_t launch(void (*kernel)(P...), dim3 blocks, dim3 cluster, A... arguments)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = configuration(blocks, cluster, &attribute);
    return cudaLaunchKernelEx(&config, kernel, P(arguments)...);
}

static void check_view(dim3 blocks, dim3 cluster, bool is_explicit)
{
    const unsigned count = blocks.x * blocks.y * blocks.z;
    cluster_view *out = device_array<cluster_view>(count);
    if (is_explicit)
        CUDA(launch(view, blocks, cluster, out));
    else
        view<<<blocks, THREADS>>>(out);
    CUDA_LAUNCHED();
    std::vector<cluster_view> got = host_copy(out, count);
    for (unsigned b = 0; b < count; b++) {
        unsigned at[3] = {b % blocks.x, b / blocks.x % blocks.y, b / blocks.x / blocks.y};
        unsigned size[3] = {cluster.x, cluster.y, cluster.z},
                 grid[3] = {blocks.x, blocks.y, blocks.z};
        EXPECT(got[b].rank ==
               at[0] % size[0] + size[0] * (at[1] % size[1] + size[1] * (at[2] % size[2])));
        EXPECT(got[b].blocks == size[0] * size[1] * size[2] && got[b].is_explicit == is_explicit);
        for (int k = 0; k < 3; k++)
            EXPECT(got[b].id[k] == at[k] / size[k] && got[b].index[k] == at[k] % size[k] &&
                   got[b].size[k] == size[k] && got[b].grid[k] == grid[k] / size[k]);
    }
    CUDA(cudaFree(out));
}

static void check_sizes(cluster_view *out)
{
    static const struct {
        unsigned blocks, cluster;
        cudaError_t error;
    } sizes[] = {{16, 8, cudaSuccess},
                 {16, 16, cudaErrorInvalidClusterSize},
                 {10, 4, cudaErrorInvalidClusterSize},
                 {2, 4, cudaErrorInvalidClusterSize},
                 {4, 0, cudaErrorInvalidClusterSize}};
    for (auto &size : sizes) {
        EXPECT(launch(view, size.blocks, dim3(size.cluster), out) == size.error);
        EXPECT(cudaGetLastError() == size.error);
        CUDA(cudaDeviceSynchronize());
    }
    neighbours<<<6, THREADS, THREADS * sizeof(int)>>>((int *)out, (int *)out);
    EXPECT(cudaGetLastError() == cudaErrorInvalidClusterSize);
    CUDA(cudaFuncSetAttribute((const void *)view, cudaFuncAttributeNonPortableClusterSizeAllowed,
                              1));
    CUDA(launch(view, 16, dim3(16), out));
    CUDA(cudaDeviceSynchronize());
    EXPECT(launch(view, 32, dim3(32), out) == cudaErrorInvalidClusterSize);
    EXPECT(cudaGetLastError() == cudaErrorInvalidClusterSize);
    cudaFuncAttributes fixed;
    CUDA(cudaFuncGetAttributes(&fixed, (const void *)neighbours));
    EXPECT(fixed.clusterDimMustBeSet == 1 && fixed.requiredClusterWidth == 4 &&
           fixed.requiredClusterHeight == 1 && !fixed.nonPortableClusterSizeAllowed);
}

/* Blocks of 1024 threads: a multiprocessor of an H200 holds two of them, or one if their shared
 * memory is large. */
static void check_occupancy()
{
    static const struct {
        unsigned cluster;
        int twice, once;
    } cases[] = {{1, 264, 132}, {2, 132, 66}, {8, 30, 15}, {16, 14, 7}};
    const int most = 232448;
    CUDA(cudaFuncSetAttribute((const void *)view, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              most));
    for (auto &c : cases) {
        cudaLaunchAttribute attribute = {};
        cudaLaunchConfig_t config = configuration(16 * c.cluster, dim3(c.cluster), &attribute);
        config.blockDim = 1024;
        int count, largest;
        CUDA(cudaOccupancyMaxActiveClusters(&count, view, &config));
        CUDA(cudaOccupancyMaxPotentialClusterSize(&largest, view, &config));
        EXPECT(count == c.twice && largest == 16);
        config.dynamicSmemBytes = most;
        CUDA(cudaOccupancyMaxActiveClusters(&count, view, &config));
        EXPECT(count == c.once);
    }
}

/* The element of thread t in the block that is `distance` on in the cluster of thread i. */
static int element(int i, int distance)
{
    int block = i / THREADS, first = block / CLUSTER * CLUSTER;
    return 7 * ((first + (block - first + distance + CLUSTER) % CLUSTER) * THREADS + i % THREADS);
}

static void check_memory()
{
    std::vector<int> in(ALL), after(ALL), before(ALL), ones(CLUSTER, 1);
    for (int i = 0; i < ALL; i++) {
        in[i] = 7 * i;
        after[i] = element(i, i / THREADS % CLUSTER ? 1 : 0);
        for (int k = 0; k < CLUSTER && i / THREADS % CLUSTER == 0; k++) after[i] += element(i, k);
        before[i] = element(i, -1);
    }
    int *device_in = device_copy(in), *out = device_array<int>(ALL);
    neighbours<<<BLOCKS, THREADS, THREADS * sizeof(int)>>>(out, device_in);
    CUDA_LAUNCHED();
    expect_same("from neighbours", host_copy(out, ALL), after);
    push<<<BLOCKS, THREADS>>>(out, device_in);
    CUDA_LAUNCHED();
    expect_same("from the block before", host_copy(out, ALL), before);
    addresses<<<CLUSTER, 1>>>(out);
    CUDA_LAUNCHED();
    expect_same("addresses of rank", host_copy(out, CLUSTER), ones);
}

static void check_histogram(unsigned cluster)
{
    std::vector<int> in(5000), bins(BINS);
    for (size_t i = 0; i < in.size(); i++) bins[in[i] = (int)(i * i % 61)]++;
    int *out = device_copy(std::vector<int>(BINS));
    CUDA(launch(histogram, 16, dim3(cluster), out, device_copy(in), (int)in.size()));
    CUDA_LAUNCHED();
    expect_same("bin", host_copy(out, BINS), bins);
}

static int run()
{
    cluster_view *out = device_array<cluster_view>(64);
    if (!is_hopper()) {
        EXPECT(launch(view, 2, dim3(2), out) == cudaErrorInvalidClusterSize);
        need_capability(9, 0);
    }
    check_view(6, 3, true);
    check_view(dim3(4, 4, 4), dim3(2, 2, 2), true);
    check_view(dim3(6, 2), 3, true);
    check_view(5, 1, true);
    check_view(5, 1, false);
    check_memory();
    check_histogram(2);
    check_histogram(8);
    check_sizes(out);
    int multiprocessors;
    CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    if (multiprocessors == 132) check_occupancy();
    return right("blocks in clusters");
}
} // namespace clusters

/* Grids, blocks and tiles of cooperative groups, and clocks. */
namespace grids
{
struct grid_view {
    unsigned long long size, thread_rank;
    unsigned block_rank, blocks, is_valid;
};

/* Hillis and Steele over the whole grid: a sweep that begins too early would read old sums. */
static __global__ void grid_scan(int *out, int *scratch, const int *in, int n)
{
    cg::grid_group grid = cg::this_grid();
    int *from = scratch, *to = out;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) from[i] = in[i];
    for (int offset = 1; offset < n; offset *= 2) {
        grid.sync();
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            to[i] = from[i] + (i >= offset ? from[i - offset] : 0);
        int *other = from;
        from = to;
        to = other;
    }
    grid.sync();
    if (from != out)
        for (int i = grid.thread_rank(); i < n; i += grid.size()) out[i] = from[i];
}

static __global__ void grid_view_of(grid_view *out)
{
    cg::grid_group grid = cg::this_grid();
    out[grid.thread_rank()] = {grid.size(), grid.thread_rank(), (unsigned)grid.block_rank(),
                               (unsigned)grid.num_blocks(), grid.is_valid()};
}

/* Each block passes its number to the next one, once per round. */
static __global__ void grid_sync(int *out, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int blocks = gridDim.x, block = blockIdx.x, value = block;
    for (int round = 0; round < rounds; round++) {
        int *place = out + round % 2 * blocks;
        if (threadIdx.x == 0) place[(block + 1) % blocks] = value;
        auto token = grid.barrier_arrive();
        grid.barrier_wait(std::move(token));
        value = place[block];
    }
    if (threadIdx.x == 0) out[2 * blocks + block] = value;
}

/* ---- blocks and tiles ------------------------------------------------------------------------ */

static __global__ void large_tiles(int *out, const int *in)
{
    __shared__ cg::block_tile_memory<1024> memory;
    cg::thread_block block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    out[threadIdx.x] = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());
}

static __global__ void split_barrier(int *out)
{
    __shared__ int s[1024];
    cg::thread_block block = cg::this_thread_block();
    s[threadIdx.x] = 3 * threadIdx.x;
    auto token = block.barrier_arrive();
    int own = threadIdx.x;
    block.barrier_wait(std::move(token));
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x] + own;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static __global__ void clocks(unsigned long long *out, int loops)
{
    unsigned long long before, after;
    long long start = clock64();
    unsigned low = (unsigned)clock();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
    volatile int sum = 0;
    for (int i = 0; i < loops; i++) sum += i;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
    out[0] = clock64() - start;
    out[1] = after - before;
    out[2] = (unsigned)clock() - low;
}

template <typename... P, typename... A>
static cudaError_t together(void (*kernel)(P...), dim3 blocks, dim3 threads, A... arguments)
{
    void *pointers[] = {&arguments...};
    return cudaLaunchCooperativeKernel((const void *)kernel, blocks, threads, pointers, 0, 0);
}

static void check_scan(int blocks, int threads)
{
    const int N = 3000;
    std::vector<int> in(N), sums(N);
    for (int i = 0, sum = 0; i < N; i++) sums[i] = sum += in[i] = i * 7 % 11;
    int *out = device_array<int>(N), *scratch = device_array<int>(N);
    CUDA(together(grid_scan, blocks, threads, out, scratch, device_copy(in), N));
    CUDA_LAUNCHED();
    expect_same("sum", host_copy(out, N), sums);
}

static void check_sync()
{
    enum { BLOCKS = 30, ROUNDS = 5 };
    size_t before, after, total;
    int *out = device_array<int>(3 * BLOCKS);
    for (int k = 0; k < 2; k++) {
        CUDA(together(grid_sync, BLOCKS, 64, out, (int)ROUNDS));
        CUDA_LAUNCHED();
        CUDA(cudaMemGetInfo(k ? &after : &before, &total));
    }
    EXPECT(before == after); /* what the launch needs is given back */
    std::vector<int> got = host_copy(out, 3 * BLOCKS);
    for (int b = 0; b < BLOCKS; b++)
        EXPECT(got[2 * BLOCKS + b] == (b + BLOCKS - ROUNDS) % BLOCKS);
    EXPECT(together(grid_sync, 100000, 64, out, (int)ROUNDS) ==
           cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();
}

static void check_view(bool is_cooperative)
{
    const unsigned THREADS = 32, BLOCKS = 6, ALL = BLOCKS * THREADS;
    grid_view *out = device_array<grid_view>(ALL);
    if (is_cooperative)
        CUDA(together(grid_view_of, dim3(3, 2), dim3(8, 4), out));
    else
        grid_view_of<<<dim3(3, 2), dim3(8, 4)>>>(out);
    CUDA_LAUNCHED();
    std::vector<grid_view> got = host_copy(out, ALL);
    for (unsigned i = 0; i < ALL; i++)
        EXPECT(got[i].size == ALL && got[i].thread_rank == i && got[i].block_rank == i / THREADS &&
               got[i].blocks == BLOCKS && got[i].is_valid == is_cooperative);
}

static void check_blocks()
{
    const int THREADS = 256, TILE = 64, HALVES = 100;
    std::vector<int> in = random_values<int>(THREADS, 101), sums(THREADS), other(HALVES);
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < TILE; k++) sums[i] += in[i / TILE * TILE + k];
    for (int t = 0; t < HALVES; t++) other[t] = 3 * (HALVES - 1 - t) + t;
    int *out = device_array<int>(THREADS);
    large_tiles<<<1, THREADS>>>(out, device_copy(in));
    CUDA_LAUNCHED();
    expect_same("sum of a tile", host_copy(out, THREADS), sums);
    split_barrier<<<1, HALVES>>>(out);
    CUDA_LAUNCHED();
    expect_same("behind a barrier in two halves", host_copy(out, HALVES), other);
}

static std::vector<unsigned long long> clocks_of(int loops)
{
    unsigned long long *out = device_array<unsigned long long>(3);
    clocks<<<1, 32>>>(out, loops);
    CUDA_LAUNCHED();
    return host_copy(out, 3);
}

/* Instructions and nanoseconds; a round of the loop has a few instructions. */
static void check_clocks()
{
    const int FEW = 100, MANY = 10100;
    std::vector<unsigned long long> few = clocks_of(FEW), many = clocks_of(MANY);
    unsigned long long more = many[0] - few[0], rounds = MANY - FEW;
    EXPECT(more >= 3 * rounds);
    EXPECT(few[1] > 0 && few[1] < 10000000000);
    EXPECT(many[2] >= many[0]); /* clock() and clock64() agree */
}

static int run()
{
    check_scan(1, 64);
    check_scan(7, 32);
    check_scan(40, 100);
    check_sync();
    check_view(false);
    check_view(true);
    check_blocks();
    check_clocks();
    return right("grids and tiles that synchronise");
}
} // namespace grids

PROGRAMS({"async_copies", async_copies::run}, {"clusters", clusters::run}, {"grids", grids::run})
