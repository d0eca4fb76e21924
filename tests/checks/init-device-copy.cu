/* init-device-copy.cu — a kernel reads the unwritten half of a buffer. Copying that half, as the
 * right version does, is not a mistake. */
#include "pair.h"

__global__ void add_up(const int *in, int *out, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += in[i]; /* initcheck: Uninitialized __global__ memory read of size 4 bytes */
    *out = sum;
}

HOST
{
    enum { SIZE = 64, USED = 32 };
    int *a = unwritten<int>(SIZE), *b = unwritten<int>(SIZE), *out = zeros<int>(1);
    cudaMemset(a, 0, USED * sizeof(int));
    cudaMemcpy(b, a, SIZE * sizeof(int), cudaMemcpyDeviceToDevice);
    add_up<<<1, 1>>>(b, out, right ? USED : SIZE);
}
