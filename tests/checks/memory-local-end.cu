/* memory-local-end.cu — a thread pushes 17 numbers to its stack of 16. */
#include "pair.h"

__global__ void push(const int *in, int *out, int n)
{
    int stack[16], top = 0;
    for (int i = 0; i < n; i++)
        stack[top++] = in[i]; /* memcheck: Invalid __local__ write of size 4 bytes */
    for (int sum = 0; top > 0; *out = sum) sum = 3 * sum + stack[--top + in[top]];
}

PAIR(push, 1, 1, zeros<int>(17), zeros<int>(1), right ? 16 : 17)
