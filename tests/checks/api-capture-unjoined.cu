/* api-capture-unjoined.cu — a capture ends before the second stream has been joined to the
 * first again. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; }

HOST
{
    int *out = zeros<int>(64);
    cudaStream_t stream = new_stream(cudaStreamDefault), other = new_stream(cudaStreamDefault);
    cudaEvent_t fork = new_event(), join = new_event();
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, stream);
    cudaStreamWaitEvent(other, fork);
    fill<<<1, 64, 0, other>>>(out);
    cudaEventRecord(join, other);
    if (right) cudaStreamWaitEvent(stream, join);
    cudaStreamEndCapture(stream, &graph); /* memcheck: cudaErrorStreamCaptureUnjoined */
    if (right) cudaGraphDestroy(graph);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaStreamDestroy(stream);
    cudaStreamDestroy(other);
}
