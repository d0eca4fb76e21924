/* graph_conditions.cu — conditional nodes of graphs: IF, with and without an else, WHILE, SWITCH,
 * and a loop in a loop. Kernels set the conditions. */
#include "check.cuh"

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

int main()
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
