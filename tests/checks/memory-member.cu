/* memory-member.cu — a structure is copied to the device, but its member points to memory of
 * the host. */
#include "pair.h"

struct vector {
    int *data;
    int n;
};

__global__ void fill(const struct vector *v)
{
    if (threadIdx.x < v->n) v->data[threadIdx.x] = 1; /* memcheck: Invalid __global__ write */
}

int main(int argc, char **argv)
{
    int *host = (int *)malloc(64 * sizeof(int)), *data = zeros<int>(64);
    struct vector v = {is_right(argc, argv) ? data : host, 64}, *copy = zeros<struct vector>(1);
    cudaMemcpy(copy, &v, sizeof v, cudaMemcpyHostToDevice);
    fill<<<1, 64>>>(copy);
    cudaDeviceSynchronize();
    cudaFree(data);
    cudaFree(copy);
    free(host);
}
