/* cg_grid_sync.cu — one kernel whose blocks all wait for each other: a reduction without a second
 * launch, then a scan of the blocks' sums, grid.sync() between the phases. */
#include "check.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

static const int THREADS = 128;

static __global__ void sum_and_normalise(const int *in, int *block_sum, int *block_start, int *out,
                                         int n)
{
    cg::grid_group grid = cg::this_grid();
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) block_sum[blockIdx.x] = sum;
    grid.sync();

    if (grid.thread_rank() == 0) {
        int before = 0;
        for (unsigned b = 0; b < gridDim.x; b++) {
            block_start[b] = before;
            before += block_sum[b];
        }
        block_start[gridDim.x] = before;
    }
    grid.sync();

    int total = block_start[gridDim.x];
    for (int i = grid.thread_rank(); i < n; i += grid.size()) out[i] = total - in[i];
}

int main()
{
    int cooperative, per_sm;
    CUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    EXPECT(cooperative);
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, sum_and_normalise, THREADS, 0));
    EXPECT(per_sm >= 1);
    int n = 20011, blocks = 12;
    std::vector<int> in = random_values<int>(n, 1000), expected(n), starts(blocks + 1, 0);
    for (int i = 0; i < n; i++) starts[i / THREADS % blocks + 1] += in[i];
    for (int b = 0; b < blocks; b++) starts[b + 1] += starts[b];
    for (int i = 0; i < n; i++) expected[i] = starts[blocks] - in[i];

    int *device_in = device_copy(in), *sums = device_array<int>(blocks);
    int *device_starts = device_array<int>(blocks + 1), *out = device_array<int>(n);
    void *arguments[] = {&device_in, &sums, &device_starts, &out, &n};
    CUDA(cudaLaunchCooperativeKernel((const void *)sum_and_normalise, dim3(blocks), dim3(THREADS),
                                     arguments, 0, 0));
    CUDA_LAUNCHED();
    expect_same("start", host_copy(device_starts, blocks + 1), starts);
    expect_same("out", host_copy(out, n), expected);

    /* A grid that does not fit all at once is refused. */
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));
    int per_multiprocessor = device.maxThreadsPerMultiProcessor / THREADS;
    int too_many = per_multiprocessor * device.multiProcessorCount + 1;
    EXPECT(cudaLaunchCooperativeKernel((const void *)sum_and_normalise, dim3(too_many),
                                       dim3(THREADS), arguments, 0,
                                       0) == cudaErrorCooperativeLaunchTooLarge);
    return right("grid-wide synchronisation of %d blocks", blocks);
}
