/* memory-text.cu — a text of 16 characters and its '\0' are stored in 16 bytes. */
#include "pair.h"

__global__ void spell(char *text, int n)
{
    text[threadIdx.x] = 'a' + threadIdx.x;
    if (threadIdx.x == 0) text[n] = '\0'; /* memcheck: Invalid __global__ write of size 1 */
}

HOST
{
    enum { N = 16 };
    char *text = zeros<char>(right ? N + 1 : N);
    spell<<<1, N>>>(text, N);
}
