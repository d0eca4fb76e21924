/* race-graph-fork.cu — a capture forks into a second stream before the kernel whose result that
 * stream reads. */
#include "pair.h"

enum { N = 1024 };

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */
__global__ void square(int *out, const int *in)
{
    out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x];
}

HOST
{
    int *a = zeros<int>(N), *b = zeros<int>(N);
    cudaStream_t first = new_stream(cudaStreamDefault), second = new_stream(cudaStreamDefault);
    cudaEvent_t fork = new_event(), join = new_event();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    if (!right) cudaEventRecord(fork, first);
    fill<<<1, N, 0, first>>>(a);
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
