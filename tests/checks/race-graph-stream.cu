/* race-graph-stream.cu — a copy in another stream reads what a graph writes, and does not wait for
 * the graph. */
#include "pair.h"

enum { N = 1024 };

__global__ void fill(int *out) { out[threadIdx.x] = threadIdx.x; } /* racecheck: Race reported */

int main(int argc, char **argv)
{
    int *memory = zeros<int>(N), *host;
    cudaStream_t work, copies;
    cudaEvent_t filled;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaMallocHost(&host, N * sizeof(int));
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaEventCreate(&filled);
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(work, cudaStreamCaptureModeGlobal);
    fill<<<1, N, 0, work>>>(memory);
    cudaStreamEndCapture(work, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, work);
    cudaEventRecord(filled, work);
    if (is_right(argc, argv)) cudaStreamWaitEvent(copies, filled, 0);
    cudaMemcpyAsync(host, memory, N * sizeof(int), cudaMemcpyDeviceToHost, copies);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaFree(memory);
    cudaFreeHost(host);
}
