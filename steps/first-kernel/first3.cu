/*
 * The third puzzle: a neighbour. A thread needs a number that another thread has loaded, and finds
 * it in shared memory, which belongs to the whole block.
 * How to run it: make first3, write the line that is missing in labs/first3.cu, make check-first3.
 */
#include <stdio.h>

#define THREADS 256 // numbers, and threads of the only block

__global__ void add_neighbours(int *out, const int *in)
{
    __shared__ int part[THREADS]; // one array, which all threads of the block use
    int i = threadIdx.x, before = 0;

    part[i] = in[i];
    __syncthreads(); // no thread goes on before all threads have stored their numbers
    if (i > 0) before = part[i - 1]; // lab: let `before` be the number before in[i], from `part`
    out[i] = before + part[i];
}

int main(void)
{
    int numbers[THREADS], *in, *out;

    for (int i = 0; i < THREADS; i++) numbers[i] = 3 * i + 1;
    cudaMalloc(&in, sizeof(numbers));
    cudaMalloc(&out, sizeof(numbers));
    cudaMemcpy(in, numbers, sizeof(numbers), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(numbers));

    add_neighbours<<<1, THREADS>>>(out, in);

    cudaError_t error = cudaMemcpy(numbers, out, sizeof(numbers), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) return printf("%s\n", cudaGetErrorString(error)), 1;
    for (int i = 0; i < THREADS; i++) {
        int wanted = 3 * i + 1 + (i > 0 ? 3 * i - 2 : 0);
        if (numbers[i] == wanted) continue;
        printf("out[%d] is %d, and should be %d\n", i, numbers[i], wanted);
        return 1;
    }
    printf("all %d numbers are right\n", THREADS);
    return cudaFree(in) || cudaFree(out);
}
