/*
 * The fourth puzzle: two dimensions. Blocks and grid have a width and a height, memory has not: a
 * picture lies there row after row.
 * How to run it: make first4, write the line that is missing in labs/first4.cu, make check-first4.
 */
#include <stdio.h>

#define WIDTH  40 // of the picture `in`, which has HEIGHT rows; `out` has WIDTH rows
#define HEIGHT 24
#define N      (WIDTH * HEIGHT)
#define SIDE   8 // a block has 8 x 8 threads

__global__ void transpose(int *out, const int *in)
{
    int x = blockIdx.x * SIDE + threadIdx.x; // a column of `in`, and a row of `out`
    int y = blockIdx.y * SIDE + threadIdx.y; // a row of `in`, and a column of `out`

    out[x * HEIGHT + y] = in[y * WIDTH + x]; // lab: store the number at its place in `out`
}

int main(void)
{
    int numbers[N], *in, *out;

    for (int i = 0; i < N; i++) numbers[i] = i;
    cudaMalloc(&in, sizeof(numbers));
    cudaMalloc(&out, sizeof(numbers));
    cudaMemcpy(in, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(numbers));

    transpose<<<dim3(WIDTH / SIDE, HEIGHT / SIDE), dim3(SIDE, SIDE)>>>(out, in);

    cudaError_t error = cudaMemcpy(numbers, out, sizeof(numbers), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) return printf("%s\n", cudaGetErrorString(error)), 1;
    for (int i = 0; i < N; i++) {
        int wanted = i % HEIGHT * WIDTH + i / HEIGHT;
        if (numbers[i] == wanted) continue;
        printf("out[%d] is %d, and should be %d\n", i, numbers[i], wanted);
        return 1;
    }
    printf("all %d numbers are right\n", N);
    return cudaFree(in) || cudaFree(out);
}
