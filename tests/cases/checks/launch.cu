/* launch.cu — pairs: kernels that launch kernels, and conditions of graphs. pair.h says how a pair
 * is written. */
#include "pair.h"

enum { N = 64 };

/* What several pairs launch. */
__global__ void fill(int *data) { data[threadIdx.x] = threadIdx.x; }
__global__ void reverse(int *out, const int *in) { out[threadIdx.x] = in[N - 1 - threadIdx.x]; }

/* A graph with a WHILE node, whose body is to be filled. */
struct conditional {
    cudaGraph_t graph, body;
    cudaGraphNode_t node;
    cudaGraphConditionalHandle condition; /* 1 at each launch */

    conditional()
    {
        cudaGraphNodeParams params = {};
        cudaGraphCreate(&graph, 0);
        cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault);
        params.type = cudaGraphNodeTypeConditional;
        params.conditional.handle = condition;
        params.conditional.type = cudaGraphCondTypeWhile;
        params.conditional.size = 1;
        cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params);
        body = params.conditional.phGraph_out[0];
    }

    /* Adds a kernel to the graph or its body, after a node or (nullptr) as a first one. */
    template <typename... P, typename... A>
    cudaGraphNode_t add(cudaGraph_t to, cudaGraphNode_t after, void (*kernel)(P...), int blocks,
                        int threads, A... arguments)
    {
        void *pointers[] = {&arguments...};
        cudaKernelNodeParams params = {};
        cudaGraphNode_t added;
        params.func = (void *)kernel;
        params.gridDim = dim3(blocks);
        params.blockDim = dim3(threads);
        params.kernelParams = pointers;
        cudaGraphAddKernelNode(&added, to, &after, after ? 1 : 0, &params);
        return added;
    }

    void run()
    {
        cudaGraphExec_t exec;
        cudaGraphInstantiate(&exec, graph, 0);
        cudaGraphLaunch(exec, 0);
        cudaDeviceSynchronize();
        cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
    }
};

/* launch-before — all threads store, and one of them launches the kernel that reads. That kernel
 * comes after the thread that launches it, and after what a barrier orders before this thread. */
template <bool right> __global__ void launch_before(int *out, int *data)
{
    data[threadIdx.x] = threadIdx.x; /* racecheck: Race reported */
    if (right) __syncthreads();
    if (threadIdx.x == 0) reverse<<<1, N>>>(out, data);
}
PAIR(launch_before<right>, 1, N, zeros<int>(N), zeros<int>(N))

/* launch-condition — a WHILE node of a graph repeats a kernel until no element has changed. A block
 * decides before the other blocks have come so far. A node of its own comes after all. */
enum { BLOCKS = 4 };
__device__ int changes;
template <bool right> __global__ void halve(int *data, cudaGraphConditionalHandle again)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] /= 2;
    if (data[i]) atomicAdd(&changes, 1); /* racecheck: Race reported */
    __syncthreads();
    if (right || i > 0) return;
    cudaGraphSetConditional(again, changes > 0);
    changes = 0;
}
__global__ void decide(cudaGraphConditionalHandle again)
{
    cudaGraphSetConditional(again, changes > 0);
    changes = 0;
}
HOST(launch_condition)
{
    conditional loop;
    int *data = numbers<int>(BLOCKS * N);
    cudaGraphNode_t first =
        loop.add(loop.body, nullptr, halve<right>, BLOCKS, N, data, loop.condition);
    if (right) loop.add(loop.body, first, decide, 1, 1, loop.condition);
    loop.run();
}

/* launch-condition-edge — a kernel sets the condition of a WHILE node, and no edge of the graph
 * makes the node wait for this kernel. */
__global__ void decide_first(cudaGraphConditionalHandle begins, const int *wanted)
{
    cudaGraphSetConditional(begins, *wanted > 0); /* racecheck: Race reported */
}
__global__ void halve_data(int *data, cudaGraphConditionalHandle again)
{
    data[threadIdx.x] /= 2;
    if (threadIdx.x == N - 1) cudaGraphSetConditional(again, data[N - 1] > 0);
}
HOST(launch_condition_edge)
{
    conditional loop;
    int *data = numbers<int>(N), *wanted = zeros<int>(1);
    cudaGraphNode_t first =
        loop.add(loop.graph, nullptr, decide_first, 1, 1, loop.condition, wanted);
    if (right) cudaGraphAddDependencies(loop.graph, &first, &loop.node, nullptr, 1);
    loop.add(loop.body, nullptr, halve_data, 1, N, data, loop.condition);
    loop.run();
}

/* launch-condition-threads — each thread sets the condition of a WHILE node for its element, so
 * that the thread that comes last decides. */
template <bool right>
__global__ void launch_condition_threads(int *data, cudaGraphConditionalHandle again)
{
    int value = data[threadIdx.x] /= 2;
    if (right) value = __syncthreads_or(value); /* equal for all threads */
    cudaGraphSetConditional(again, value > 0);  /* racecheck: Race reported */
}
HOST(launch_condition_threads)
{
    conditional loop;
    loop.add(loop.body, nullptr, launch_condition_threads<right>, 1, N, numbers<int>(N),
             loop.condition);
    loop.run();
}

/* launch-read — a kernel launches another one, and reads what that one stores. It does not wait
 * for it, and no call in a kernel can. What comes after all of them is launched into the tail
 * stream. */
__global__ void sum(const int *data, int *out)
{
    *out = 0;
    for (int i = 0; i < N; i++) *out += data[i];
}
template <bool right> __global__ void launch_read(int *data, int *out)
{
    fill<<<1, N>>>(data); /* racecheck: Race reported in fill() */
    if (right)
        sum<<<1, 1, 0, cudaStreamTailLaunch>>>(data, out);
    else
        for (int i = 0; i < N; i++) *out += data[i];
}
PAIR(launch_read<right>, 1, 1, zeros<int>(N), zeros<int>(1))

/* launch-shared — a kernel passes a pointer to its shared memory to the kernel it launches. */
template <bool right> __global__ void launch_shared(int *out, int *data)
{
    __shared__ int words[N];
    int *in = right ? data : words;
    in[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) reverse<<<1, N>>>(out, in); /* memcheck: is a pointer to shared memory */
}
PAIR(launch_shared<right>, 1, N, zeros<int>(N), zeros<int>(N))

/* launch-siblings — the second kernel needs the first one's results. In the stream
 * cudaStreamFireAndForget nothing orders them, in the block's NULL stream they come in turn. */
template <bool right> __global__ void launch_siblings(int *out, int *data)
{
    cudaStream_t stream = right ? 0 : cudaStreamFireAndForget;
    fill<<<1, N, 0, stream>>>(data); /* racecheck: Race reported in fill() */
    reverse<<<1, N, 0, stream>>>(out, data);
}
PAIR(launch_siblings<right>, 1, 1, zeros<int>(N), zeros<int>(N))
