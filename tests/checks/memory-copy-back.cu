/* memory-copy-back.cu — the host copies more than the device's array holds. */
#include "pair.h"

int main(int argc, char **argv)
{
    size_t n = 1 << 24, bytes = (is_right(argc, argv) ? 1 : 4) * n;
    char *out = zeros<char>(n), *host = (char *)malloc(4 * n);
    cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost); /* memcheck: cudaErrorInvalidValue */
    cudaFree(out);
    free(host);
}
