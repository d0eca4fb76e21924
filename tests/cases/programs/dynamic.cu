/* dynamic.cu — kernels that launch kernels, and graphs whose kernels decide what follows. */
#include "check.cuh"

/* Launches by kernels: the streams of a block, of a thread, of a grid, fire and forget, tail
 * launches, events; copies and fills in these streams. */
namespace dynamic_streams
{
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

static int run()
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
} // namespace dynamic_streams

/* Conditional nodes of graphs: IF, with and without an else, WHILE, SWITCH, and a loop in a loop.
 * Kernels set the conditions. */
namespace graph_conditions
{
static __global__ void add(int *data, int by) { *data += by; }
static __global__ void set(cudaGraphConditionalHandle condition, const int *value)
{
    cudaGraphSetConditional(condition, *value);
}
/* Counts down, and goes on until 0. */
static __global__ void count(cudaGraphConditionalHandle condition, int *left)
{
    cudaGraphSetConditional(condition, --*left > 0);
}
static __global__ void put(int *data, int value) { *data = value; }

template <typename... Arguments, typename... Values>
static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, void (*f)(Arguments...),
                              Values... values)
{
    void *arguments[] = {&values...};
    cudaKernelNodeParams params = {};
    params.func = (void *)f;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    cudaGraphNode_t node;
    CUDA(cudaGraphAddKernelNode(&node, graph, after ? &after : nullptr, after ? 1 : 0, &params));
    return node;
}

struct Choice {
    cudaGraphNode_t node;
    cudaGraph_t *bodies;
};

static Choice choose(cudaGraph_t graph, cudaGraphNode_t after, cudaGraphConditionalHandle condition,
                     cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = condition;
    params.conditional.type = type;
    params.conditional.size = size;
    Choice choice;
    CUDA(cudaGraphAddNode(&choice.node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0,
                          &params));
    choice.bodies = params.conditional.phGraph_out;
    return choice;
}

static int run(cudaGraphExec_t exec, int *device, int value)
{
    int values[4] = {value, 0, 0, 0};
    CUDA(cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice));
    CUDA(cudaGraphLaunch(exec, 0));
    CUDA(cudaDeviceSynchronize());
    return host_copy(device + 1, 1)[0];
}

static cudaGraphExec_t ready(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    return exec;
}

/* One of several bodies, by the first number in the memory. */
static cudaGraphExec_t one_of(int *device, cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraph_t graph;
    cudaGraphConditionalHandle condition;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphConditionalHandleCreate(&condition, graph));
    cudaGraphNode_t first = kernel(graph, nullptr, set, condition, device);
    Choice choice = choose(graph, first, condition, type, size);
    for (unsigned i = 0; i < size; i++) kernel(choice.bodies[i], nullptr, add, device + 1, i + 1);
    kernel(graph, choice.node, add, device + 1, 100);
    return ready(graph);
}

/* A loop of three passes, in each of which another one has two. Streams make the inner body. */
static cudaGraphExec_t loops(int *device)
{
    cudaGraph_t graph;
    cudaGraphConditionalHandle outer, inner;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphConditionalHandleCreate(&outer, graph, 1, cudaGraphCondAssignDefault));
    Choice loop = choose(graph, nullptr, outer, cudaGraphCondTypeWhile, 1);
    CUDA(cudaGraphConditionalHandleCreate(&inner, loop.bodies[0]));
    cudaGraphNode_t before = kernel(loop.bodies[0], nullptr, put, device + 2, 2);
    before = kernel(loop.bodies[0], before, set, inner, device + 2);
    Choice nested = choose(loop.bodies[0], before, inner, cudaGraphCondTypeWhile, 1);
    kernel(loop.bodies[0], nested.node, count, outer, device);
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCaptureToGraph(stream, nested.bodies[0], nullptr, nullptr, 0,
                                       cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(device + 1, 1);
    count<<<1, 1, 0, stream>>>(inner, device + 2);
    CUDA(cudaStreamEndCapture(stream, nullptr));
    return ready(graph);
}

static int run()
{
    int *device = device_array<int>(4);
    cudaGraphExec_t exec = one_of(device, cudaGraphCondTypeIf, 1);
    EXPECT(run(exec, device, 0) == 100);
    EXPECT(run(exec, device, 1) == 101);
    EXPECT(run(exec, device, 7) == 101);
    exec = one_of(device, cudaGraphCondTypeIf, 2);
    EXPECT(run(exec, device, 0) == 102);
    EXPECT(run(exec, device, 1) == 101);
    exec = one_of(device, cudaGraphCondTypeSwitch, 3);
    for (int value = 0; value < 3; value++) EXPECT(run(exec, device, value) == 101 + value);
    EXPECT(run(exec, device, 3) == 100);
    exec = loops(device);
    for (int passes = 1; passes < 4; passes++) EXPECT(run(exec, device, passes) == 2 * passes);
    return right("graphs that decide and repeat");
}
} // namespace graph_conditions

PROGRAMS({"dynamic_streams", dynamic_streams::run}, {"graph_conditions", graph_conditions::run})
