/* race-streams.cu — pairs: hazards between streams, in graphs, and with the host. pair.h says how a
 * pair is written. */
#include "pair.h"

enum { N = 1024, BUFFERS = 2 };

/* What several pairs launch. */
__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; }
__global__ void square(int *out, const int *in)
{
    out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x];
}

/* race-graph-edge — a graph lacks the edge from a kernel to the one that reads its result. */
static cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t *needs, void *kernel, void **args)
{
    cudaGraphNode_t node;
    cudaKernelNodeParams params = {};
    params.func = kernel;
    params.gridDim = 1;
    params.blockDim = N;
    params.kernelParams = args;
    cudaGraphAddKernelNode(&node, graph, needs, needs != nullptr, &params);
    return node;
}
HOST(race_graph_edge)
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    void *of_fill[] = {&a}, *of_square[] = {&b, &a};
    cudaGraphCreate(&graph, 0);
    /* racecheck: Race reported in fill() */
    cudaGraphNode_t first = add(graph, nullptr, (void *)fill, of_fill);
    add(graph, right ? &first : nullptr, (void *)square, of_square);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

/* race-graph-fork — a capture forks into a second stream before the kernel whose result that stream
 * reads. */
HOST(race_graph_fork)
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    cudaStream_t first = new_stream(cudaStreamDefault), second = new_stream(cudaStreamDefault);
    cudaEvent_t fork = new_event(), join = new_event();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    if (!right) cudaEventRecord(fork, first);
    fill<<<1, N, 0, first>>>(a); /* racecheck: Race reported in fill() */
    if (right) cudaEventRecord(fork, first);
    cudaStreamWaitEvent(second, fork, 0);
    square<<<1, N, 0, second>>>(b, a);
    cudaEventRecord(join, second);
    cudaStreamWaitEvent(first, join, 0);
    cudaStreamEndCapture(first, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, first);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

/* race-graph-stream — a copy in another stream reads what a graph writes, and does not wait for the
 * graph. */
HOST(race_graph_stream)
{
    int *memory = zeros<int>(N), *host = pinned<int>(N);
    cudaStream_t work = new_stream(), copies = new_stream();
    cudaEvent_t filled = new_event();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(work, cudaStreamCaptureModeGlobal);
    fill<<<1, N, 0, work>>>(memory); /* racecheck: Race reported in fill() */
    cudaStreamEndCapture(work, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, work);
    cudaEventRecord(filled, work);
    if (right) cudaStreamWaitEvent(copies, filled, 0);
    cudaMemcpyAsync(host, memory, N * sizeof(int), cudaMemcpyDeviceToHost, copies);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

/* race-streams-alloc — memory that one stream has allocated is used by another one, which does not
 * wait for the allocation. */
MAIN(race_streams_alloc)
{
    int *memory;
    cudaStream_t first = new_stream(cudaStreamDefault), second = new_stream(cudaStreamDefault);
    cudaEvent_t allocated = new_event();
    cudaMallocAsync(&memory, N * sizeof(int), first);
    cudaEventRecord(allocated, first);
    if (right) cudaStreamWaitEvent(second, allocated, 0);
    fill<<<1, N, 0, second>>>(memory); /* racecheck: Race reported in fill() */
    cudaStreamSynchronize(second);
    cudaFreeAsync(memory, first);
    cudaStreamSynchronize(first);
}

/* race-streams-buffers — two buffers in turns: the next copy into a buffer has to wait until the
 * kernel has read what is in it. */
enum { ROUNDS = 6 };
__global__ void race_streams_buffers(int *sums, const int *in)
{
    sums[threadIdx.x] += in[threadIdx.x]; /* racecheck: Race reported */
}
HOST(race_streams_buffers)
{
    int *host = pinned<int>(ROUNDS * N), *buffers[BUFFERS], *sums = zeros<int>(N);
    cudaStream_t copies = new_stream(), work = new_stream();
    cudaEvent_t copied[BUFFERS], used[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        buffers[i] = zeros<int>(N);
        cudaEventCreate(&copied[i]);
        cudaEventCreate(&used[i]);
    }
    cudaDeviceSynchronize();
    for (int round = 0; round < ROUNDS; round++) {
        int i = round % BUFFERS;
        if (right) cudaStreamWaitEvent(copies, used[i], 0);
        cudaMemcpyAsync(buffers[i], host + round * N, N * sizeof(int), cudaMemcpyHostToDevice,
                        copies);
        cudaEventRecord(copied[i], copies);
        cudaStreamWaitEvent(work, copied[i], 0);
        race_streams_buffers<<<1, N, 0, work>>>(sums, buffers[i]);
        cudaEventRecord(used[i], work);
    }
}

/* race-streams-copy — a copy in one stream reads what a kernel in another stream writes: no event
 * orders the two. */
HOST(race_streams_copy)
{
    int *memory = zeros<int>(N), *host = pinned<int>(N);
    cudaStream_t work = new_stream(), copies = new_stream();
    cudaEvent_t filled = new_event();
    cudaDeviceSynchronize();
    fill<<<1, N, 0, work>>>(memory); /* racecheck: Race reported in fill() */
    cudaEventRecord(filled, work);
    if (right) cudaStreamWaitEvent(copies, filled, 0);
    cudaMemcpyAsync(host, memory, N * sizeof(int), cudaMemcpyDeviceToHost, copies);
}

/* race-streams-event-early — an event is recorded before the kernel that it should stand for. */
HOST(race_streams_event_early)
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    cudaStream_t first = new_stream(cudaStreamDefault), second = new_stream(cudaStreamDefault);
    cudaEvent_t filled = new_event();
    if (!right) cudaEventRecord(filled, first);
    fill<<<1, N, 0, first>>>(a); /* racecheck: Race reported in fill() */
    if (right) cudaEventRecord(filled, first);
    cudaStreamWaitEvent(second, filled, 0);
    square<<<1, N, 0, second>>>(b, a);
}

/* race-streams-event-wrong — of two buffers, the stream waits for the event of the other one. */
__global__ void race_streams_event_wrong(int *sum, const int *in)
{
    atomicAdd(sum, in[threadIdx.x]);
}
HOST(race_streams_event_wrong)
{
    int *buffers[BUFFERS], *sum = zeros<int>(1);
    cudaStream_t producers[BUFFERS], consumer = new_stream();
    cudaEvent_t filled[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        buffers[i] = zeros<int>(N);
        cudaStreamCreateWithFlags(&producers[i], cudaStreamNonBlocking);
        cudaEventCreate(&filled[i]);
    }
    cudaDeviceSynchronize();
    for (int i = 0; i < BUFFERS; i++) {
        fill<<<1, N, 0, producers[i]>>>(buffers[i]); /* racecheck: Race reported in fill() */
        cudaEventRecord(filled[i], producers[i]);
    }
    cudaStreamWaitEvent(consumer, filled[0], 0);
    race_streams_event_wrong<<<1, N, 0, consumer>>>(sum, buffers[0]);
    cudaStreamWaitEvent(consumer, filled[right ? 1 : 0], 0);
    race_streams_event_wrong<<<1, N, 0, consumer>>>(sum, buffers[1]);
}

/* race-streams-free — cudaFree does not wait for work that uses memory of cudaMallocAsync. */
MAIN(race_streams_free)
{
    int *memory;
    cudaStream_t stream = new_stream(cudaStreamDefault);
    cudaMallocAsync(&memory, N * sizeof(int), stream);
    fill<<<1, N, 0, stream>>>(memory); /* racecheck: Race reported in fill() */
    if (right) cudaStreamSynchronize(stream);
    cudaFree(memory);
    cudaDeviceSynchronize();
}

/* race-streams-free-async — a stream frees memory that a kernel in another stream may still use. */
MAIN(race_streams_free_async)
{
    int *memory;
    cudaStream_t first = new_stream(cudaStreamDefault), second = new_stream(cudaStreamDefault);
    cudaEvent_t used = new_event();
    cudaMallocAsync(&memory, N * sizeof(int), first);
    cudaStreamSynchronize(first);
    fill<<<1, N, 0, second>>>(memory); /* racecheck: Race reported in fill() */
    cudaEventRecord(used, second);
    if (right) cudaStreamWaitEvent(first, used, 0);
    cudaFreeAsync(memory, first);
    cudaDeviceSynchronize();
}

/* race-streams-host — a function of the host fills a pinned buffer for the next round while a copy
 * in another stream may still read it. */
static void produce(void *buffer)
{
    for (int i = 0; i < N; i++) ((int *)buffer)[i] = i + 1;
}
HOST(race_streams_host)
{
    int *inputs = zeros<int>(N), *buffer = pinned<int>(N);
    cudaStream_t copies = new_stream(), work = new_stream();
    cudaEvent_t copied = new_event();
    cudaDeviceSynchronize();
    cudaMemcpyAsync(inputs, buffer, N * sizeof(int), cudaMemcpyHostToDevice, copies);
    cudaEventRecord(copied, copies);
    if (right) cudaStreamWaitEvent(work, copied, 0);
    cudaLaunchHostFunc(work, produce, buffer); /* racecheck: Race reported (no line) */
}

/* race-streams-kernels — two kernels in two streams add to the same array, one after the other in
 * the program and in no order on the GPU. Two that only read it, and atomics, need no order. */
__global__ void race_streams_kernels(int *sums, int *total, const int *in)
{
    sums[threadIdx.x] += in[threadIdx.x]; /* racecheck: Race reported */
    atomicAdd(total, in[threadIdx.x]);
}
HOST(race_streams_kernels)
{
    int *sums = zeros<int>(2 * N), *total = zeros<int>(1), *in = zeros<int>(N);
    cudaStream_t streams[2];
    cudaDeviceSynchronize();
    for (int i = 0; i < 2; i++) {
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
        race_streams_kernels<<<1, N, 0, streams[i]>>>(right ? sums + i * N : sums, total, in);
    }
}

/* race-streams-legacy — a kernel in the default stream waits for blocking streams, and not for
 * those of cudaStreamNonBlocking. */
HOST(race_streams_legacy)
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, right ? cudaStreamDefault : cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    fill<<<1, N, 0, stream>>>(a); /* racecheck: Race reported in fill() */
    square<<<1, N>>>(b, a);
}

/* race-streams-memset — cudaMemset returns before the memory is set, and a stream of
 * cudaStreamNonBlocking does not wait for it. */
__global__ void race_streams_memset(int *sums)
{
    sums[threadIdx.x] += threadIdx.x; /* racecheck: Race reported */
}
HOST(race_streams_memset)
{
    int *sums = unwritten<int>(N);
    cudaStream_t stream = new_stream();
    if (right)
        cudaMemsetAsync(sums, 0, N * sizeof(int), stream);
    else
        cudaMemset(sums, 0, N * sizeof(int));
    race_streams_memset<<<1, N, 0, stream>>>(sums);
    cudaStreamSynchronize(stream);
}

/* race-streams-pinned — a pinned buffer gets new numbers while a copy to the device may still read
 * the old ones from it. */
HOST(race_streams_pinned)
{
    int *results = zeros<int>(N), *inputs = zeros<int>(N), *buffer = pinned<int>(N);
    cudaStream_t up = new_stream(), down = new_stream();
    cudaDeviceSynchronize();
    cudaMemcpyAsync(inputs, buffer, N * sizeof(int), cudaMemcpyHostToDevice, up);
    if (right) cudaStreamSynchronize(up);
    cudaMemcpyAsync(buffer, results, N * sizeof(int), cudaMemcpyDeviceToHost,
                    down); /* racecheck: Race reported (no line) */
}

/* race-streams-symbol — the __constant__ coefficients of a kernel get their next values, while it
 * may still run. */
enum { TERMS = 8 };
__constant__ int coefficients[TERMS];
__global__ void polynomial(int *out)
{
    int sum = 0;
    /* racecheck: Race reported */
    for (int k = 0; k < TERMS; k++) sum = sum * (int)threadIdx.x + coefficients[k];
    out[threadIdx.x] = sum;
}
HOST(race_streams_symbol)
{
    int *out = zeros<int>(N), *next = pinned<int>(TERMS);
    cudaStream_t work = new_stream(), copies = new_stream();
    cudaDeviceSynchronize();
    polynomial<<<1, N, 0, work>>>(out);
    cudaMemcpyToSymbolAsync(coefficients, next, TERMS * sizeof(int), 0, cudaMemcpyHostToDevice,
                            right ? work : copies);
}

/* race-streams-symbol-event — a kernel does not wait for the copy of its __constant__ coefficients.
 */
HOST(race_streams_symbol_event)
{
    int *out = zeros<int>(N), *first = pinned<int>(TERMS);
    cudaStream_t work = new_stream(), copies = new_stream();
    cudaEvent_t copied = new_event();
    cudaDeviceSynchronize();
    cudaMemcpyToSymbolAsync(coefficients, first, TERMS * sizeof(int), 0, cudaMemcpyHostToDevice,
                            copies);
    cudaEventRecord(copied, copies);
    if (right) cudaStreamWaitEvent(work, copied, 0);
    polynomial<<<1, N, 0, work>>>(out); /* racecheck: Race reported (no line) */
}

/* race-streams-symbol-kernel — a kernel stores the __constant__ coefficients of another one, which
 * does not wait for it. */
HOST(race_streams_symbol_kernel)
{
    int *out = zeros<int>(N), *values;
    cudaStream_t work = new_stream(), other = new_stream();
    cudaGetSymbolAddress((void **)&values, coefficients);
    cudaDeviceSynchronize();
    fill<<<1, TERMS, 0, right ? work : other>>>(values); /* racecheck: Race reported in fill() */
    polynomial<<<1, N, 0, work>>>(out);
}
