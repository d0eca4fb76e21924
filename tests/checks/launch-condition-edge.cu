/* launch-condition-edge.cu — a kernel sets the condition of a WHILE node, and no edge of the graph
 * makes the node wait for this kernel. */
#include "conditional.cuh"

enum { N = 64 };

__global__ void decide(cudaGraphConditionalHandle begins, const int *wanted)
{
    cudaGraphSetConditional(begins, *wanted > 0); /* racecheck: Race reported */
}

__global__ void halve(int *data, cudaGraphConditionalHandle again)
{
    data[threadIdx.x] /= 2;
    if (threadIdx.x == N - 1) cudaGraphSetConditional(again, data[N - 1] > 0);
}

HOST
{
    conditional loop;
    int *data = numbers<int>(N), *wanted = zeros<int>(1);
    cudaGraphNode_t first = loop.add(loop.graph, nullptr, decide, 1, 1, loop.condition, wanted);
    if (right) cudaGraphAddDependencies(loop.graph, &first, &loop.node, nullptr, 1);
    loop.add(loop.body, nullptr, halve, 1, N, data, loop.condition);
    loop.run();
}
