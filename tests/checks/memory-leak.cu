/* memory-leak.cu — memory that is allocated must be freed. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *out = zeros<int>(64); /* memcheck: Leaked */
    if (is_right(argc, argv)) cudaFree(out);
    cudaDeviceReset();
}
