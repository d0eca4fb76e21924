/* race-early.cu — pairs: kernels that may begin before the kernel before them has ended
 * (programmatic dependent launch). pair.h says how a pair is written. */
#include "pair.h"

enum { N = 64 };

template <typename... P, typename... A>
static void launch_early(cudaStream_t stream, void (*kernel)(P...), A... arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {1, N, 0, stream, &early, 1};
    cudaLaunchKernelEx(&config, kernel, arguments...);
}

static void launch_graph(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

/* What several pairs launch. The next kernel may begin before they have accessed memory. */
__global__ void fill(int *out)
{
    cudaTriggerProgrammaticLaunchCompletion();
    out[threadIdx.x] = threadIdx.x;
}
template <bool waits> __global__ void square(int *out, const int *in)
{
    cudaTriggerProgrammaticLaunchCompletion();
    if (waits) cudaGridDependencySynchronize();
    out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x];
}

/* race-early-attribute — a kernel that does not wait is launched with the attribute. */
HOST(race_early_attribute)
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    cudaStream_t stream = new_stream();
    cudaDeviceSynchronize();
    fill<<<1, N, 0, stream>>>(a); /* racecheck: Race reported in fill() */
    if (right)
        square<false><<<1, N, 0, stream>>>(b, a);
    else
        launch_early(stream, square<false>, b, a);
}

/* race-early-barrier — one thread waits, and no barrier orders the others after it. */
template <bool right> __global__ void race_early_barrier(int *out, const int *in)
{
    if (threadIdx.x == 0) cudaGridDependencySynchronize();
    if (right) __syncthreads();
    out[threadIdx.x] = in[threadIdx.x]; /* racecheck: Race reported */
}
HOST(race_early_barrier)
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    fill<<<1, N>>>(a);
    launch_early(0, race_early_barrier<right>, b, a);
}

/* race-early-capture — a captured launch keeps the attribute, as the edge of a graph. */
HOST(race_early_capture)
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    cudaStream_t stream = new_stream();
    cudaGraph_t graph;
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill<<<1, N, 0, stream>>>(a); /* racecheck: Race reported in fill() */
    launch_early(stream, square<right>, b, a);
    cudaStreamEndCapture(stream, &graph);
    launch_graph(graph);
}

/* race-early-chain — the third kernel waits for the second, which does not wait for the first. */
HOST(race_early_chain)
{
    int *a = zeros<int>(N), *b = zeros<int>(N), *c = zeros<int>(N), *d = zeros<int>(N);
    fill<<<1, N>>>(a); /* racecheck: Race reported in fill() */
    launch_early(0, square<right>, c, b);
    launch_early(0, square<true>, d, a);
}

/* race-early-event — a copy in another stream waits for an event. The event comes after the first
 * kernel, too, though the second does not wait for it. */
HOST(race_early_event)
{
    int *a = zeros<int>(N), *b = zeros<int>(N), *c = zeros<int>(N), *host = pinned<int>(N);
    cudaStream_t work = new_stream(), copies = new_stream();
    cudaEvent_t filled = new_event();
    cudaDeviceSynchronize();
    fill<<<1, N, 0, work>>>(a); /* racecheck: Race reported in fill() */
    launch_early(work, square<false>, c, b);
    if (right) cudaEventRecord(filled, work);
    cudaStreamWaitEvent(copies, filled, 0);
    cudaMemcpyAsync(host, a, N * sizeof(int), cudaMemcpyDeviceToHost, copies);
}

/* race-early-graph — an edge of a graph lets a kernel begin that does not wait. */
HOST(race_early_graph)
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    void *of_fill[] = {&a}, *of_square[] = {&b, &a};
    cudaGraph_t graph;
    cudaGraphNode_t first, second;
    cudaKernelNodeParams params = {(void *)fill, 1, N, 0, of_fill, nullptr};
    cudaGraphEdgeData edge = {};
    edge.from_port = right ? cudaGraphKernelNodePortDefault : cudaGraphKernelNodePortProgrammatic;
    edge.type = right ? cudaGraphDependencyTypeDefault : cudaGraphDependencyTypeProgrammatic;
    cudaGraphCreate(&graph, 0);
    /* racecheck: Race reported in fill() */
    cudaGraphAddKernelNode(&first, graph, nullptr, 0, &params);
    params = {(void *)square<false>, 1, N, 0, of_square, nullptr};
    cudaGraphAddKernelNode(&second, graph, nullptr, 0, &params);
    cudaGraphAddDependencies(graph, &first, &second, &edge, 1);
    launch_graph(graph);
}

/* race-early-last — the third kernel reads what the first has made, and none of them waits. Without
 * the attribute it comes after both. */
HOST(race_early_last)
{
    int *a = zeros<int>(N), *b = zeros<int>(N), *c = zeros<int>(N), *d = zeros<int>(N);
    cudaStream_t stream = new_stream();
    cudaDeviceSynchronize();
    fill<<<1, N, 0, stream>>>(a); /* racecheck: Race reported in fill() */
    launch_early(stream, square<false>, c, b);
    if (right)
        square<false><<<1, N, 0, stream>>>(d, a);
    else
        launch_early(stream, square<false>, d, a);
}

/* race-early-late — a kernel waits after it has cleared what the one before it may still read. */
template <bool right> __global__ void race_early_late(int *sums)
{
    if (right) cudaGridDependencySynchronize();
    sums[threadIdx.x] = 0; /* racecheck: Race reported */
    cudaGridDependencySynchronize();
    sums[threadIdx.x] = 1;
}
HOST(race_early_late)
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    square<false><<<1, N>>>(b, a);
    launch_early(0, race_early_late<right>, a);
}

/* race-early-prefetch — before it waits, a kernel reads data of the kernel before it. Data that no
 * kernel writes may be read then. */
__global__ void race_early_prefetch(int *out, const int *early, const int *late)
{
    int value = early[threadIdx.x]; /* racecheck: Race reported */
    cudaGridDependencySynchronize();
    out[threadIdx.x] = value + late[threadIdx.x];
}
HOST(race_early_prefetch)
{
    int *a = zeros<int>(N), *b = zeros<int>(N), *factors = numbers<int>(N);
    fill<<<1, N>>>(a);
    launch_early(0, race_early_prefetch, b, right ? factors : a, right ? a : factors);
}

/* race-early-rewrite — a captured kernel stores to the array that the one before it reads. */
template <bool right> __global__ void race_early_rewrite(int *data)
{
    if (right) cudaGridDependencySynchronize();
    data[threadIdx.x] = 0; /* racecheck: WAR hazard; racecheck: Race reported */
}
HOST(race_early_rewrite)
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    cudaStream_t stream = new_stream();
    cudaGraph_t graph;
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    square<false><<<1, N, 0, stream>>>(b, a);
    launch_early(stream, race_early_rewrite<right>, a);
    cudaStreamEndCapture(stream, &graph);
    launch_graph(graph);
}

/* race-early-sum — two kernels add to one sum by atomics, which needs no wait. To read it does. */
__global__ void count(int *sum)
{
    cudaTriggerProgrammaticLaunchCompletion();
    atomicAdd(sum, 1);
}
template <bool right> __global__ void race_early_sum(int *out, int *sum)
{
    atomicAdd(sum, 1);
    if (right) cudaGridDependencySynchronize();
    __syncthreads();
    out[threadIdx.x] = *sum; /* racecheck: RAW hazard; racecheck: Race reported */
}
HOST(race_early_sum)
{
    int *sum = zeros<int>(1), *out = zeros<int>(N);
    count<<<1, N>>>(sum);
    launch_early(0, race_early_sum<right>, out, sum);
}
