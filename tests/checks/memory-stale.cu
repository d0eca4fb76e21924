/* memory-stale.cu — a kernel gets a pointer to a buffer that has been replaced by a larger
 * one. */
#include "pair.h"

struct vector {
    int *data;
    int n;
};

__global__ void fill(struct vector v)
{
    for (int i = threadIdx.x; i < v.n; i += blockDim.x)
        v.data[i] = i; /* memcheck: Invalid __global__ write of size 4 bytes */
}

static void grow(struct vector *v, int n)
{
    int *larger = zeros<int>(n);
    cudaMemcpy(larger, v->data, v->n * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaFree(v->data);
    v->data = larger;
    v->n = n;
}

int main(int argc, char **argv)
{
    struct vector v = {zeros<int>(32), 32}, before = v;
    grow(&v, 64);
    fill<<<1, 32>>>(is_right(argc, argv) ? v : before);
    cudaDeviceSynchronize();
    cudaFree(v.data);
}
