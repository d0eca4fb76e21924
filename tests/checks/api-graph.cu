/* api-graph.cu — an instantiated graph cannot take over a graph with another number of nodes. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; }

static cudaGraph_t chain(int *out, int kernels)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < kernels; i++) fill<<<1, 64, 0, stream>>>(out);
    cudaStreamEndCapture(stream, &graph);
    cudaStreamDestroy(stream);
    return graph;
}

HOST
{
    int *out = zeros<int>(64);
    cudaGraph_t one = chain(out, 1), more = chain(out, right ? 1 : 2);
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    cudaGraphInstantiate(&exec, one, 0);
    cudaGraphExecUpdate(exec, more, &info); /* memcheck: cudaErrorGraphExecUpdateFailure */
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(one);
    cudaGraphDestroy(more);
}
