/* separate_compilation.cu — a program of two files: this one calls a device function, reads and
 * writes a device variable, and takes the address of a function of separate_compilation.part.cu. */
#include "check.cuh"

extern __device__ int far_away(int x);
extern __device__ int shared_counter;
extern __constant__ int offsets[4];
typedef int (*operation)(int);
extern __device__ operation operations[2];
void launch_other(int *out, int n);

static __global__ void call(int *out)
{
    int i = threadIdx.x;
    out[i] = far_away(i) + offsets[i % 4] + operations[i % 2](i);
    atomicAdd(&shared_counter, 1);
}

int main()
{
    const int N = 96;
    int *out = device_array<int>(N);
    const int values[] = {10, 20, 30, 40};
    CUDA(cudaMemcpyToSymbol(offsets, values, sizeof values));
    call<<<1, N>>>(out);
    CUDA_LAUNCHED();
    std::vector<int> expected(N);
    for (int i = 0; i < N; i++) expected[i] = i * i + 1 + values[i % 4] + (i % 2 ? -i : 2 * i);
    expect_same("call", host_copy(out, N), expected);

    launch_other(out, N); /* a kernel of the other file; it sees the same variable */
    CUDA_LAUNCHED();
    for (int v : host_copy(out, N)) EXPECT(v == N);
    return right("calls and variables across two files");
}
