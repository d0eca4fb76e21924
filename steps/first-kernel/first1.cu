/*
 * The first puzzle: a map. Each thread makes one number of the output from one number of the input.
 * How to run it: make first1, write the line that is missing in labs/first1.cu, make check-first1.
 */
#include <stdio.h>

#define N       1024 // numbers
#define THREADS 256  // threads in each block

__global__ void square(int *out, const int *in)
{
    int i = blockIdx.x * THREADS + threadIdx.x; // no two threads have the same i

    out[i] = in[i] * in[i]; // lab: store the square of in[i] in out[i]
}

int main(void)
{
    int numbers[N], *in, *out;

    for (int i = 0; i < N; i++) numbers[i] = i - 500;
    cudaMalloc(&in, sizeof(numbers));
    cudaMalloc(&out, sizeof(numbers));
    cudaMemcpy(in, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(numbers));

    square<<<N / THREADS, THREADS>>>(out, in);

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
