/* zero_copy.cu — kernels read and write the host's memory: allocated as mapped, or registered
 * afterwards. No copies. */
#include "check.cuh"

static __global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main()
{
    const int N = 10000, THREADS = 256;
    int can_map;
    CUDA(cudaDeviceGetAttribute(&can_map, cudaDevAttrCanMapHostMemory, 0));
    EXPECT(can_map);
    float *a, *b, *c, *device_a, *device_b, *device_c;
    CUDA(cudaHostAlloc((void **)&a, N * sizeof(float), cudaHostAllocMapped));
    CUDA(cudaHostAlloc((void **)&c, N * sizeof(float), cudaHostAllocMapped));
    std::vector<float> ordinary = random_values<float>(N, 1000);
    b = ordinary.data();
    CUDA(cudaHostRegister(b, N * sizeof(float), cudaHostRegisterMapped));
    for (int i = 0; i < N; i++) a[i] = (float)i;

    CUDA(cudaHostGetDevicePointer((void **)&device_a, a, 0));
    CUDA(cudaHostGetDevicePointer((void **)&device_b, b, 0));
    CUDA(cudaHostGetDevicePointer((void **)&device_c, c, 0));
    add<<<blocks_for(N, THREADS), THREADS>>>(device_a, device_b, device_c, N);
    CUDA_LAUNCHED(); /* only now may the host read the result */
    for (int i = 0; i < N; i++) EXPECT(c[i] == a[i] + b[i]);

    cudaPointerAttributes about;
    CUDA(cudaPointerGetAttributes(&about, c));
    EXPECT(about.type == cudaMemoryTypeHost && about.devicePointer == device_c);
    CUDA(cudaPointerGetAttributes(&about, &can_map));
    EXPECT(about.type == cudaMemoryTypeUnregistered);
    CUDA(cudaHostUnregister(b));
    CUDA(cudaFreeHost(a));
    CUDA(cudaFreeHost(c));
    return right("kernel on %d floats of the host", N);
}
