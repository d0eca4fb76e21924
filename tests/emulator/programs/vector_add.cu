/* vector_add.cu — the first program of every course: one thread adds one pair. */
#include "check.cuh"

static __global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main()
{
    const int N = 50000, THREADS = 256; /* the last block has threads without work */
    std::vector<float> a = random_values<float>(N, 1000), b = random_values<float>(N, 1000);
    float *device_a = device_copy(a), *device_b = device_copy(b),
          *device_c = device_array<float>(N);

    add<<<blocks_for(N, THREADS), THREADS>>>(device_a, device_b, device_c, N);
    CUDA_LAUNCHED();

    std::vector<float> expected(N);
    for (int i = 0; i < N; i++) expected[i] = a[i] + b[i];
    expect_same("c", host_copy(device_c, N), expected);
    CUDA(cudaFree(device_a));
    CUDA(cudaFree(device_b));
    CUDA(cudaFree(device_c));
    return right("vector add of %d floats", N);
}
