/*
 * The second puzzle: a guard. Same as first1 except that there are 1000 numbers, which is no whole
 * number of blocks: 24 threads of the last block have no number.
 * How to run it: make first2, write the line that is missing in labs/first2.cu, make check-first2.
 */
#include <stdio.h>

#define N       1000 // numbers
#define THREADS 256  // threads in each block

__global__ void square(int *out, const int *in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;

    if (i >= n) return; // lab: let threads without a number return
    out[i] = in[i] * in[i];
}

int main(void)
{
    int numbers[N], *in, *out;

    for (int i = 0; i < N; i++) numbers[i] = i - 500;
    cudaMalloc(&in, sizeof(numbers));
    cudaMalloc(&out, sizeof(numbers));
    cudaMemcpy(in, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(numbers));

    square<<<(N + THREADS - 1) / THREADS, THREADS>>>(out, in, N);

    cudaError_t error = cudaMemcpy(numbers, out, sizeof(numbers), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) return printf("%s\n", cudaGetErrorString(error)), 1;
    for (int i = 0; i < N; i++) {
        int wanted = (i - 500) * (i - 500);
        if (numbers[i] == wanted) continue;
        printf("out[%d] is %d, and should be %d\n", i, numbers[i], wanted);
        return 1;
    }
    printf("all %d numbers are right\n", N);
    return cudaFree(in) || cudaFree(out);
}
