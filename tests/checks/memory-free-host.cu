/* memory-free-host.cu — memory of malloc is freed by cudaFreeHost. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *host = (int *)malloc(64 * sizeof(int));
    if (!is_right(argc, argv)) cudaFreeHost(host); /* memcheck: cudaErrorInvalidValue */
    free(host);
}
