/* runtime.cu — what a program asks of the runtime: streams with events. */
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

PROGRAMS({"streams", streams::run})
