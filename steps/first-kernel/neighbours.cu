/*
 * The first kernel: adds to each number the number before it. notes/first-kernel.md explains it.
 * How to run it without a GPU: make emu && build/emu/emu run steps/first-kernel/neighbours.cu
 */
#include <stdio.h>

#define N       1000 // numbers
#define THREADS 256  // threads in each block

__global__ void add_neighbours(int *out, const int *in, int n)
{
    __shared__ int part[THREADS];               // the numbers of this block
    int i = blockIdx.x * THREADS + threadIdx.x; // the index of this thread's number
    int before = 0;

    if (i < n) part[threadIdx.x] = in[i];
    __syncthreads();
    if (i >= n) return;
    if (threadIdx.x > 0) before = part[threadIdx.x - 1];
    else if (i > 0) before = in[i - 1];
    out[i] = before + part[threadIdx.x];
}

int main(void)
{
    int numbers[N], *in, *out, wrong = 0;

    for (int i = 0; i < N; i++) numbers[i] = i;
    cudaMalloc(&in, sizeof(numbers));
    cudaMalloc(&out, sizeof(numbers));
    cudaMemcpy(in, numbers, sizeof(numbers), cudaMemcpyHostToDevice);

    add_neighbours<<<(N + THREADS - 1) / THREADS, THREADS>>>(out, in, N);

    cudaError_t error = cudaMemcpy(numbers, out, sizeof(numbers), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 1;
    }
    for (int i = 1; i < N; i++) wrong += numbers[i] != i - 1 + i;
    printf("%d %d %d %d ... %d, %d wrong\n", numbers[0], numbers[1], numbers[2], numbers[3],
           numbers[N - 1], wrong);
    return 0;
}
