/* api-capture-legacy.cu — a launch in the default stream waits for all others, and one of them
 * is being captured. */
#include "pair.h"

__global__ void fill(int *out) { out[threadIdx.x] = 1; }

int main(int argc, char **argv)
{
    bool right = is_right(argc, argv);
    int *out = zeros<int>(64);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    fill<<<1, 64, 0, stream>>>(out);
    cudaStream_t second = right ? stream : 0;
    fill<<<1, 64, 0, second>>>(out); /* memcheck: cudaErrorStreamCaptureImplicit */
    cudaStreamEndCapture(stream, &graph);
    if (right) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(out);
}
