/* The kernel on README's first screen: its sums are right, and it is wrong, as racecheck says. */
#include <stdio.h>

__global__ void running_sums(int *a)
{
    int i = threadIdx.x;
    for (int d = 1; d < 8; d *= 2) {
        int left = i >= d ? a[i - d] : 0;
        a[i] += left;
    }
}

int main(void)
{
    int sums[8] = {3, 1, 7, 0, 4, 1, 6, 3}, *a;

    cudaMalloc(&a, sizeof(sums));
    cudaMemcpy(a, sums, sizeof(sums), cudaMemcpyHostToDevice);
    running_sums<<<1, 8>>>(a);
    cudaMemcpy(sums, a, sizeof(sums), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8; i++) printf("%d%s", sums[i], i < 7 ? " " : "\n");
    return cudaFree(a);
}
