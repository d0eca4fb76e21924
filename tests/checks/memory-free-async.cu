/* memory-free-async.cu — memory is freed by cudaFreeAsync, and by cudaFree again. */
#include "pair.h"

int main(int argc, char **argv)
{
    cudaStream_t stream = new_stream(cudaStreamDefault);
    int *out;
    cudaMallocAsync(&out, 64 * sizeof(int), stream);
    cudaFreeAsync(out, stream);
    cudaStreamSynchronize(stream);
    if (!is_right(argc, argv)) cudaFree(out); /* memcheck: cudaErrorInvalidValue */
    cudaStreamDestroy(stream);
}
