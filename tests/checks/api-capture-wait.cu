/* api-capture-wait.cu — the host waits for a stream that is being captured. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; }

HOST
{
    int *out = zeros<int>(64);
    cudaStream_t stream = new_stream(cudaStreamDefault);
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill<<<1, 64, 0, stream>>>(out);
    if (!right) cudaStreamSynchronize(stream); /* memcheck: cudaErrorStreamCaptureUnsupported */
    cudaStreamEndCapture(stream, &graph);
    if (right) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
