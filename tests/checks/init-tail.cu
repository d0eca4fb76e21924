/* init-tail.cu — a kernel writes whole blocks of 64 elements, and the host copies the rest,
 * too. */
#include "pair.h"

template <bool right> __global__ void fill(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (right ? i < n : i < n / 64 * 64) out[i] = i;
}

HOST
{
    enum { N = 1000 };
    static int host[N];
    int *out = unwritten<int>(N);
    fill<right><<<(N + 63) / 64, 64>>>(out, N);
    cudaMemcpy(host, out, /* initcheck: Host API uninitialized memory access */
               sizeof host, cudaMemcpyDeviceToHost);
}
