/*
 * The fifth puzzle: a grid-stride loop. Same as first2 except that the grid has fewer threads than
 * there are numbers: each thread takes several of them.
 * How to run it: make first5, write the line that is missing in labs/first5.cu, make check-first5.
 */
#include <stdio.h>

#define N       1000 // numbers
#define BLOCKS  2
#define THREADS 128 // threads in each block

__global__ void square(int *out, const int *in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x; // this thread's first number
    int threads = BLOCKS * THREADS;             // in the whole grid

    for (; i < n; i += threads) // lab: repeat the next line; i grows by `threads`, and is below n
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

    square<<<BLOCKS, THREADS>>>(out, in, N);

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
