/* memory-fill.cu — the number of bytes of a cudaMemset is multiplied by the size of an element
 * twice. */
#include "pair.h"

int main(int argc, char **argv)
{
    size_t bytes = (1 << 22) * sizeof(int);
    int *out;
    cudaMalloc(&out, bytes);
    cudaMemset(out, 0, /* memcheck: cudaErrorInvalidValue */
               is_right(argc, argv) ? bytes : bytes * sizeof(int));
    cudaFree(out);
}
