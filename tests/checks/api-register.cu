/* api-register.cu — the same memory of the host is registered twice. */
#include "pair.h"

int main(int argc, char **argv)
{
    size_t bytes = 1 << 16;
    void *host = aligned_alloc(4096, bytes);
    cudaHostRegister(host, bytes, cudaHostRegisterDefault);
    if (!is_right(argc, argv))
        cudaHostRegister(host, bytes, /* memcheck: cudaErrorHostMemoryAlreadyRegistered */
                         cudaHostRegisterDefault);
    cudaHostUnregister(host);
    free(host);
}
