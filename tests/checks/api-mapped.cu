/* api-mapped.cu — the host asks for the device's address of memory that is not mapped. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *host, *device, *pageable = (int *)malloc(64 * sizeof(int));
    cudaHostAlloc(&host, 64 * sizeof(int), cudaHostAllocMapped);
    cudaHostGetDevicePointer(&device, /* memcheck: cudaErrorInvalidValue */
                             is_right(argc, argv) ? host : pageable, 0);
    cudaFreeHost(host);
    free(pageable);
}
