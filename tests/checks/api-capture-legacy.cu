/* api-capture-legacy.cu — a launch in the default stream waits for all others, and one of them
 * is being captured. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; }

HOST
{
    int *out = zeros<int>(64);
    cudaStream_t stream = new_stream(cudaStreamDefault);
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill<<<1, 64, 0, stream>>>(out);
    cudaStream_t second = right ? stream : 0;
    fill<<<1, 64, 0, second>>>(out); /* memcheck: cudaErrorStreamCaptureImplicit */
    cudaStreamEndCapture(stream, &graph);
    if (right) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
