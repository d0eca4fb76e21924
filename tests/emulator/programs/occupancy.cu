/* occupancy.cu — how many blocks of a kernel fit on a multiprocessor, and a block size chosen by
 * the runtime. Checks what follows from the documented limits on any GPU. */
#include "check.cuh"

static __global__ void square(int *value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) value[i] *= value[i];
}

static __global__ void __launch_bounds__(128) small_blocks(int *value) { value[threadIdx.x] = 1; }

static int blocks_per_sm(int threads, size_t shared)
{
    int blocks;
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, square, threads, shared));
    return blocks;
}

int main()
{
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));
    const int by_threads = device.maxThreadsPerMultiProcessor;

    /* `square` needs few registers and no shared memory: threads and blocks are what limits it. */
    EXPECT(blocks_per_sm(1024, 0) == by_threads / 1024);
    EXPECT(blocks_per_sm(256, 0) == by_threads / 256);
    EXPECT(blocks_per_sm(32, 0) == device.maxBlocksPerMultiProcessor);
    EXPECT(blocks_per_sm(250, 0) == by_threads / 256); /* whole warps */

    /* With 16 KiB per block, shared memory limits the occupancy. CUDA reserves some of it in each
     * block. */
    size_t each = 16 * 1024 + device.reservedSharedMemPerBlock;
    EXPECT(blocks_per_sm(64, 16 * 1024) == (int)(device.sharedMemPerMultiprocessor / each));
    EXPECT(blocks_per_sm(32, device.sharedMemPerBlockOptin + 1) == 0);

    int min_grid, block;
    CUDA(cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, square, 0, 0));
    EXPECT(block % device.warpSize == 0 && block <= device.maxThreadsPerBlock);
    EXPECT(min_grid == blocks_per_sm(block, 0) * device.multiProcessorCount);
    CUDA(cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, small_blocks, 0, 0));
    EXPECT(block == 128);

    const int N = 10000;
    std::vector<int> value = random_values<int>(N, 1000), expected = value;
    for (int &v : expected) v *= v;
    int *values = device_copy(value);
    CUDA(cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, square, 0, 0));
    square<<<blocks_for(N, block), block>>>(values, N);
    CUDA_LAUNCHED();
    expect_same("square", host_copy(values, N), expected);
    return right("occupancy: block size chosen by the runtime");
}
