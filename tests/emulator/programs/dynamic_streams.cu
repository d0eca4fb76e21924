/* dynamic_streams.cu — launches by kernels: the streams of a block, of a thread, of a grid, fire
 * and forget, tail launches, events; copies and fills in these streams. */
#include "check.cuh"

enum { N = 64, CHAIN = 3000, DEEPEST = 2048 };

static __global__ void add(int *data, int by) { data[threadIdx.x] += by; }
static __global__ void times(int *data, int by) { data[threadIdx.x] *= by; }

/* Each block has a NULL stream of its own, and its launches come one after the other. */
static __global__ void in_order(int *data)
{
    int *own = data + blockIdx.x * N;
    own[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x != 0) return;
    add<<<1, N>>>(own, 1);
    times<<<1, N>>>(own, 3);
    add<<<1, N>>>(own, blockIdx.x);
}

static __global__ void sum(const int *data, int count, int *to)
{
    *to = 0;
    for (int i = 0; i < count; i++) *to += data[i];
}

/* The tail comes after all others, whenever it is launched. */
static __global__ void forget(int *data, int *to)
{
    if (threadIdx.x == 0) sum<<<1, 1, 0, cudaStreamTailLaunch>>>(data, N, to);
    data[threadIdx.x] = 0;
    __syncthreads();
    int *part = data + threadIdx.x * N / 4;
    if (threadIdx.x < 4) add<<<1, N / 4, 0, cudaStreamFireAndForget>>>(part, 1);
}

/* A loop: each grid launches the next one behind itself. */
static __global__ void count_up(int *counter)
{
    if (++*counter < CHAIN) count_up<<<1, 1, 0, cudaStreamTailLaunch>>>(counter);
}

/* Two streams, of which one waits for the other's event. */
static __global__ void with_events(int *data)
{
    cudaStream_t first, second;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaMemsetAsync(data, 0, N * sizeof(int), first);
    add<<<1, N, 0, first>>>(data, 5);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    times<<<1, N, 0, second>>>(data, 7);
    cudaMemcpyAsync(data + N, data, N * sizeof(int), cudaMemcpyDeviceToDevice, second);
    cudaMemset2DAsync(data + 2 * N, 16, 0, 4, 4, second);
    cudaMemcpy2DAsync(data + 3 * N, 4, data + 2 * N, 16, 4, 4, cudaMemcpyDefault, second);
    cudaEventDestroy(event);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}

/* The flags of streams and events: which ones are accepted. */
enum { STREAM_FLAGS = 6, EVENT_FLAGS = 8, FLAGS = STREAM_FLAGS + EVENT_FLAGS };
static __global__ void make(int *answers)
{
    cudaStream_t stream;
    cudaEvent_t event;
    for (int flags = 0; flags < STREAM_FLAGS; flags++)
        answers[flags] = cudaStreamCreateWithFlags(&stream, flags);
    for (int flags = 0; flags < EVENT_FLAGS; flags++)
        answers[STREAM_FLAGS + flags] = cudaEventCreateWithFlags(&event, flags);
}

/* Launches into a stream of cudaStreamDefault. The NULL stream cannot be destroyed. */
static __global__ void with_default(int *data, int *answers)
{
    cudaStream_t stream;
    answers[0] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
    add<<<1, N, 0, stream>>>(data, 1);
    answers[1] = cudaGetLastError();
    times<<<1, N, 0, stream>>>(data, 2);
    answers[2] = cudaStreamDestroy(stream);
    answers[3] = cudaStreamDestroy(0);
}

/* As deep as a GPU allows. The deepest gets the error. */
static __global__ void nest(int *deepest, int *error, int depth)
{
    *deepest = depth;
    nest<<<1, 1>>>(deepest, error, depth + 1);
    cudaError_t last = cudaGetLastError();
    if (last != cudaSuccess) *error = last;
}

/* Memory of a kernel's cudaMalloc outlives it. */
static __global__ void fill_and_free(int *data, int *to)
{
    for (int i = 0; i < N; i++) data[i] = 2;
    sum<<<1, 1>>>(data, N, to);
}
static __global__ void release(int *data) { cudaFree(data); }
static __global__ void allocate(int *to)
{
    int *data;
    if (cudaMalloc(&data, N * sizeof *data) != cudaSuccess) return;
    fill_and_free<<<1, 1>>>(data, to);
    release<<<1, 1, 0, cudaStreamTailLaunch>>>(data);
}

static __global__ void ask(int *answers)
{
    cudaFuncAttributes attributes;
    answers[0] = cudaDeviceGetAttribute(&answers[1], cudaDevAttrMultiProcessorCount, 0);
    answers[2] = cudaFuncGetAttributes(&attributes, add);
    answers[3] = attributes.maxThreadsPerBlock;
    answers[4] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&answers[5], add, 128, 0);
    add<<<1, 2048>>>(answers, 1);
    answers[6] = cudaPeekAtLastError();
    answers[7] = cudaGetLastError();
    answers[8] = cudaGetLastError();
    const char *name = cudaGetErrorName(cudaErrorInvalidConfiguration);
    answers[9] = name[9];
    answers[10] = cudaMemcpyAsync(answers, answers, 4, cudaMemcpyHostToDevice, 0);
    cudaStream_t stream;
    answers[11] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
    answers[12] = cudaGetDevice(&answers[13]);
}

int main()
{
    int *data = device_array<int>(4 * N), *to = device_array<int>(2);
    in_order<<<3, N>>>(data);
    CUDA_LAUNCHED();
    std::vector<int> got = host_copy(data, 3 * N);
    for (int i = 0; i < 3 * N; i++) EXPECT(got[i] == (i % N + 1) * 3 + i / N);

    forget<<<1, N>>>(data, to);
    CUDA_LAUNCHED();
    EXPECT(host_copy(to, 1)[0] == N);

    CUDA(cudaMemset(to, 0, sizeof *to));
    count_up<<<1, 1>>>(to);
    CUDA_LAUNCHED();
    EXPECT(host_copy(to, 1)[0] == CHAIN);

    with_events<<<1, 1>>>(data);
    CUDA_LAUNCHED();
    got = host_copy(data, 2 * N);
    for (int i = 0; i < 2 * N; i++) EXPECT(got[i] == 35);
    for (int value : host_copy(data + 3 * N, 4)) EXPECT(value == 0);

    make<<<1, 1>>>(data);
    CUDA_LAUNCHED();
    enum { NO = cudaErrorInvalidValue };
    const int made[FLAGS] = {0, 0, NO, NO, NO, NO, NO, NO, 0, 0, NO, NO, NO, NO};
    expect_same("flags", host_copy(data, FLAGS).data(), made, FLAGS);

    CUDA(cudaMemset(data, 0, N * sizeof *data));
    with_default<<<1, 1>>>(data, data + N);
    CUDA_LAUNCHED();
    got = host_copy(data, N + 4);
    for (int i = 0; i < N; i++) EXPECT(got[i] == 2);
    EXPECT(got[N] == 0 && got[N + 1] == 0 && got[N + 2] == 0 && got[N + 3] == NO);

    nest<<<1, 1>>>(to, to + 1, 0);
    CUDA_LAUNCHED();
    got = host_copy(to, 2);
    EXPECT(got[0] == DEEPEST && got[1] == cudaErrorLaunchPendingCountExceeded);

    allocate<<<1, 1>>>(to);
    CUDA_LAUNCHED();
    EXPECT(host_copy(to, 1)[0] == 2 * N);

    ask<<<1, 1>>>(data);
    CUDA_LAUNCHED();
    got = host_copy(data, 14);
    cudaFuncAttributes attributes;
    int multiprocessors, blocks;
    CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CUDA(cudaFuncGetAttributes(&attributes, add));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 128, 0));
    /* clang-format off */
    const int expected[] = {0, multiprocessors, 0, attributes.maxThreadsPerBlock, 0, blocks,
                            cudaErrorInvalidConfiguration, cudaErrorInvalidConfiguration, 0, 'I',
                            cudaErrorInvalidMemcpyDirection, cudaSuccess, 0, 0};
    /* clang-format on */
    expect_same("answer", got.data(), expected, got.size());
    return right("launches in the streams of kernels");
}
