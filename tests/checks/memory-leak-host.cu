/* memory-leak-host.cu — managed and pinned memory that is allocated must be freed. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *managed, *host;
    cudaMallocManaged(&managed, 64 * sizeof(int)); /* memcheck: Leaked 256 bytes */
    cudaMallocHost(&host, 32 * sizeof(int));       /* memcheck: Leaked 128 bytes */
    if (is_right(argc, argv)) {
        cudaFree(managed);
        cudaFreeHost(host);
    }
    cudaDeviceReset();
}
