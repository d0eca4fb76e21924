/* memory-leak-reset.cu — what a program allocates must be freed before cudaDeviceReset(), too. */
#include "pair.h"

int main(int argc, char **argv)
{
    int *before = zeros<int>(32); /* memcheck: Leaked 128 bytes (no line) */
    if (is_right(argc, argv)) cudaFree(before);
    cudaDeviceReset();
    int *after = zeros<int>(32);
    if (is_right(argc, argv)) cudaFree(after);
    cudaDeviceSynchronize();
}
