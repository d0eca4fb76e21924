/* api-prefetch.cu — memory of cudaMalloc cannot be prefetched: only managed memory can. */
#include "pair.h"

int main(int argc, char **argv)
{
    size_t bytes = 1 << 20;
    void *plain, *managed;
    cudaMemLocation device;
    device.type = cudaMemLocationTypeDevice;
    device.id = 0;
    cudaMalloc(&plain, bytes);
    cudaMallocManaged(&managed, bytes);
    cudaMemPrefetchAsync(/* memcheck: cudaErrorInvalidValue */
                         is_right(argc, argv) ? managed : plain, bytes, device, 0, 0);
    cudaDeviceSynchronize();
    cudaFree(plain);
    cudaFree(managed);
}
