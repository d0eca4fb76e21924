/* cluster.cu — blocks of a cluster see each other's shared memory: a histogram whose bins are
 * spread over the cluster, and a ring in which each block reads its neighbour. Compute capability
 * 9.0. */
#include "check.cuh"
#include <cooperative_groups.h>

static const int THREADS = 128, CLUSTER = 4, BLOCKS = 2 * CLUSTER, BINS = 256;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
namespace cg = cooperative_groups;

static const int MINE = BINS / CLUSTER; /* bins a block */

static __global__ void histogram(const unsigned char *data, int n, unsigned *bins)
{
    __shared__ unsigned mine[MINE];
    cg::cluster_group cluster = cg::this_cluster();
    for (int b = threadIdx.x; b < MINE; b += blockDim.x) mine[b] = 0;
    cluster.sync(); /* all bins are zero before any thread counts */
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned *owner = cluster.map_shared_rank(mine, data[i] / MINE);
        atomicAdd(&owner[data[i] % MINE], 1);
    }
    cluster.sync(); /* all threads must have counted before one leaves */
    unsigned first = cluster.block_rank() * MINE;
    for (int b = threadIdx.x; b < MINE; b += blockDim.x) atomicAdd(&bins[first + b], mine[b]);
}

static __global__ void __cluster_dims__(CLUSTER, 1, 1) ring(const int *in, int *out)
{
    __shared__ int s[THREADS];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * THREADS + threadIdx.x;
    s[threadIdx.x] = in[i];
    cluster.barrier_arrive();
    int next = (cluster.block_rank() + 1) % cluster.num_blocks();
    cluster.barrier_wait();
    out[i] = cluster.map_shared_rank(s, next)[THREADS - 1 - threadIdx.x];
    cluster.sync();
}
#else
static __global__ void histogram(const unsigned char *, int, unsigned *) {}
static __global__ void ring(const int *, int *) {}
#endif

int main()
{
    need_capability(9, 0);
    int n = 20000;
    std::vector<unsigned char> data = random_values<unsigned char>(n, 256);
    std::vector<unsigned> expected(BINS, 0);
    for (unsigned char byte : data) expected[byte]++;
    unsigned char *device_data = device_copy(data);
    unsigned *bins = device_array<unsigned>(BINS);
    CUDA(cudaMemset(bins, 0, BINS * sizeof *bins));

    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = CLUSTER;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(BLOCKS);
    config.blockDim = dim3(THREADS);
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters;
    CUDA(cudaOccupancyMaxActiveClusters(&clusters, histogram, &config));
    EXPECT(clusters >= 1);
    CUDA(cudaLaunchKernelEx(&config, histogram, (const unsigned char *)device_data, n, bins));
    CUDA_LAUNCHED();
    expect_same("bin", host_copy(bins, BINS), expected);

    const int N = BLOCKS * THREADS;
    std::vector<int> in = random_values<int>(N, 1000), neighbours(N);
    for (int i = 0; i < N; i++) {
        int block = i / THREADS, next = block / CLUSTER * CLUSTER + (block + 1) % CLUSTER;
        neighbours[i] = in[next * THREADS + THREADS - 1 - i % THREADS];
    }
    int *out = device_array<int>(N);
    ring<<<BLOCKS, THREADS>>>(device_copy(in), out);
    CUDA_LAUNCHED();
    expect_same("neighbour", host_copy(out, N), neighbours);
    return right("clusters of %d blocks: a histogram and a ring", CLUSTER);
}
