/* memory-local-end.cu — a thread pushes 17 numbers to its stack of 16. */
#include "pair.h"

__global__ void push(const int *in, int *out, int n)
{
    int stack[16], top = 0;
    for (int i = 0; i < n; i++)
        stack[top++] = in[i]; /* memcheck: Invalid __local__ write of size 4 bytes */
    for (int sum = 0; top > 0; *out = sum) sum = 3 * sum + stack[--top + in[top]];
}

int main(int argc, char **argv)
{
    int *in = zeros<int>(17), *out = zeros<int>(1);
    push<<<1, 1>>>(in, out, is_right(argc, argv) ? 16 : 17);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
