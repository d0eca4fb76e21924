/* memory-free-kind.cu — memory of cudaHostAlloc is freed by cudaFree. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *host;
    cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocDefault);
    if (!is_right(argc, argv)) cudaFree(host); /* memcheck: cudaErrorInvalidValue */
    cudaFreeHost(host);
}
