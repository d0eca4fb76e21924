/* race-graph-stream.cu — a copy in another stream reads what a graph writes, and does not wait for
 * the graph. */
#include "pair.h"

enum { N = 1024 };

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */

HOST
{
    int *memory = zeros<int>(N), *host = pinned<int>(N);
    cudaStream_t work = new_stream(), copies = new_stream();
    cudaEvent_t filled = new_event();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(work, cudaStreamCaptureModeGlobal);
    fill<<<1, N, 0, work>>>(memory);
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
