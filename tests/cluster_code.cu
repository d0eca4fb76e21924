/* cluster_code.cu — thread block clusters and distributed shared memory. */
#include "cluster_code.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

enum { THREADS = 64, BINS = 64 };

#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
#define HAS_CLUSTERS       1
#define CLUSTER_OF(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define HAS_CLUSTERS 0
#define CLUSTER_OF(blocks)
#endif

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

/* Each block sends its tile to the next one's shared memory, and tells its mbarrier. */
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

static __global__ void CLUSTER_OF(2) gone(int *out)
{
#if HAS_CLUSTERS
    __shared__ int s;
    cg::cluster_group c = cg::this_cluster();
    s = 7;
    c.sync();
    if (c.block_rank() == 1) return;
    for (int i = 0; i < 1000; i++) __nanosleep(1000);
    *out = *c.map_shared_rank(&s, 1);
#endif
}

static __global__ void CLUSTER_OF(2) half_waits(int *out)
{
#if HAS_CLUSTERS
    __shared__ uint64_t never;
    cg::cluster_group c = cg::this_cluster();
    if (c.block_rank() == 1) {
        if (threadIdx.x == 0) ptx::mbarrier_init(&never, 1);
        __syncthreads();
        while (!ptx::mbarrier_try_wait_parity(&never, 0)) continue;
    }
    c.sync();
    *out = 1;
#endif
}

/* ---- launches --------------------------------------------------------------------------------- */

static cudaLaunchConfig_t configuration(cudaLaunchAttribute *a, dim3 blocks, dim3 cluster)
{
    cudaLaunchConfig_t config = {};
    a->id = cudaLaunchAttributeClusterDimension;
    a->val.clusterDim.x = cluster.x;
    a->val.clusterDim.y = cluster.y;
    a->val.clusterDim.z = cluster.z;
    config.gridDim = blocks;
    config.blockDim = THREADS;
    config.attrs = a;
    config.numAttrs = 1;
    return config;
}

cudaError_t launch_cluster_view(cluster_view *out, dim3 blocks, dim3 cluster)
{
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config = configuration(&attribute, blocks, cluster);
    if (cluster.x == 99) config.numAttrs = 0;
    return cudaLaunchKernelEx(&config, view, out);
}
cudaError_t launch_neighbours(int *out, const int *in, int blocks)
{
    neighbours<<<blocks, THREADS, THREADS * sizeof(int)>>>(out, in);
    return cudaGetLastError();
}
cudaError_t launch_histogram(int *out, const int *in, int n, int blocks, int cluster)
{
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config = configuration(&attribute, blocks, cluster);
    return cudaLaunchKernelEx(&config, histogram, out, in, n);
}
cudaError_t launch_push(int *out, const int *in, int blocks)
{
    push<<<blocks, THREADS>>>(out, in);
    return cudaGetLastError();
}
cudaError_t launch_addresses(int *out)
{
    addresses<<<4, 1>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_gone(int *out)
{
    gone<<<2, THREADS>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_half_waits(int *out)
{
    half_waits<<<2, THREADS>>>(out);
    return cudaGetLastError();
}
cudaError_t allow_large_clusters(void)
{
    return cudaFuncSetAttribute((const void *)view, cudaFuncAttributeNonPortableClusterSizeAllowed,
                                1);
}
cudaError_t active_clusters(int *clusters, int *largest, int cluster, int threads, size_t shared)
{
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config = configuration(&attribute, 16 * cluster, cluster);
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    cudaFuncSetAttribute((const void *)view, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)shared);
    cudaError_t error = cudaOccupancyMaxActiveClusters(clusters, view, &config);
    return error ? error : cudaOccupancyMaxPotentialClusterSize(largest, view, &config);
}
cudaError_t fixed_attributes(cudaFuncAttributes *attributes)
{
    return cudaFuncGetAttributes(attributes, (const void *)neighbours);
}
