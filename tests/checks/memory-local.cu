/* memory-local.cu — an index beyond a thread's own array. */
#include "pair.h"

__global__ void pick(const int *index, int *out)
{
    int array[16];
    for (int i = 0; i < 16; i++) array[i] = i * i;
    array[index[0]] = 1;
    out[0] = array[index[1]]; /* memcheck: Invalid __local__ read */
}

HOST
{
    int host[2] = {3, right ? 15 : 1 << 20}, *index = unwritten<int>(2), *out = zeros<int>(1);
    cudaMemcpy(index, host, sizeof host, cudaMemcpyHostToDevice);
    pick<<<1, 1>>>(index, out);
}
