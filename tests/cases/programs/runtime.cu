/* runtime.cu — what a program asks of the runtime: streams with events, and occupancy. */
#include "check.cuh"

/* Independent work in several streams: each copies its part in, squares it, and copies it back.
 * Within a stream the order holds; between streams only events order. */
namespace streams
{
static const int STREAMS = 4, PART = 5000, N = STREAMS * PART, THREADS = 128;

static __global__ void square(int *value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) value[i] *= value[i];
}

static __global__ void add_up(const int *value, int n, int *sum)
{
    int mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += value[i];
    atomicAdd(sum, mine);
}

static int run()
{
    int *in, *out, *device, *sum, least, most;
    CUDA(cudaMallocHost((void **)&in, N * sizeof(int)));
    CUDA(cudaMallocHost((void **)&out, N * sizeof(int)));
    CUDA(cudaMalloc((void **)&device, N * sizeof(int)));
    CUDA(cudaMalloc((void **)&sum, sizeof(int)));
    std::vector<int> expected(N);
    int total = 0;
    for (int i = 0; i < N; i++) {
        in[i] = next_random() % 100;
        total += expected[i] = in[i] * in[i];
    }

    cudaStream_t streams[STREAMS];
    cudaEvent_t done[STREAMS];
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &most));
    for (int s = 0; s < STREAMS; s++) {
        CUDA(
            cudaStreamCreateWithPriority(&streams[s], cudaStreamNonBlocking, s % 2 ? least : most));
        CUDA(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
    }
    CUDA(cudaMemsetAsync(sum, 0, sizeof(int), streams[0]));
    for (int s = 0; s < STREAMS; s++) {
        int *part = device + s * PART;
        size_t bytes = PART * sizeof(int);
        CUDA(cudaMemcpyAsync(part, in + s * PART, bytes, cudaMemcpyHostToDevice, streams[s]));
        square<<<blocks_for(PART, THREADS), THREADS, 0, streams[s]>>>(part, PART);
        CUDA(cudaGetLastError());
        CUDA(cudaMemcpyAsync(out + s * PART, part, bytes, cudaMemcpyDeviceToHost, streams[s]));
        CUDA(cudaEventRecord(done[s], streams[s]));
    }

    /* The sum needs the work of all streams. */
    for (int s = 1; s < STREAMS; s++) CUDA(cudaStreamWaitEvent(streams[0], done[s], 0));
    add_up<<<1, THREADS, 0, streams[0]>>>(device, N, sum);
    CUDA(cudaGetLastError());
    for (int s = 0; s < STREAMS; s++) {
        CUDA(cudaStreamSynchronize(streams[s]));
        CUDA(cudaStreamQuery(streams[s]));
        CUDA(cudaEventQuery(done[s]));
    }
    expect_same("out", out, expected.data(), N);
    EXPECT(host_copy(sum, 1)[0] == total);
    for (int s = 0; s < STREAMS; s++) CUDA(cudaStreamDestroy(streams[s]));
    CUDA(cudaFreeHost(in));
    CUDA(cudaFreeHost(out));
    return right("%d streams with events between them", STREAMS);
}
} // namespace streams

/* How many blocks of a kernel fit on a multiprocessor, and a block size chosen by the runtime.
 * Checks what follows from the documented limits on any GPU. */
namespace occupancy
{
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

static int run()
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
} // namespace occupancy

PROGRAMS({"streams", streams::run}, {"occupancy", occupancy::run})
