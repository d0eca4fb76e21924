/* api-memory.cu — the host asks for more memory than the device has. */
#include "pair.h"

int main(int argc, char **argv)
{
    size_t free_bytes, all;
    void *buffer = nullptr;
    cudaMemGetInfo(&free_bytes, &all);
    cudaMalloc(&buffer, /* memcheck: cudaErrorMemoryAllocation */
               is_right(argc, argv) ? free_bytes / 64 : all + 1);
    cudaFree(buffer);
}
