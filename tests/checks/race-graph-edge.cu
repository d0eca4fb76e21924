/* race-graph-edge.cu — a graph lacks the edge from a kernel to the one that reads its result. */
#include "pair.h"

enum { N = 1024 };

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */
__global__ void square(int *out, const int *in)
{
    out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x];
}

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

HOST
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    void *of_fill[] = {&a}, *of_square[] = {&b, &a};
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t first = add(graph, nullptr, (void *)fill, of_fill);
    add(graph, right ? &first : nullptr, (void *)square, of_square);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}
