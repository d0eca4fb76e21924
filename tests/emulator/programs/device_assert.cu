/* device_assert.cu — assert in a kernel: one that holds changes nothing, one that fails stops the
 * grid, and the host learns cudaErrorAssert from its next synchronisation. */
#include "check.cuh"
#undef NDEBUG
#include <cassert>
#include <unistd.h>

static __global__ void all_below(const int *value, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(value[i] < limit && "a value is too large");
}

int main()
{
    const int N = 128;
    std::vector<int> value(N);
    for (int i = 0; i < N; i++) value[i] = i;
    int *device = device_copy(value);
    all_below<<<2, N / 2>>>(device, N);
    CUDA_LAUNCHED();

    /* The message goes to stderr; here it is expected, so it is not shown. */
    EXPECT(freopen("/dev/null", "w", stderr) != NULL);
    all_below<<<2, N / 2>>>(device, N - 3);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaDeviceSynchronize() == cudaErrorAssert);
    EXPECT(cudaMalloc((void **)&device, 4) == cudaErrorAssert); /* the context is lost */
    return right("assert: one holds, one fails");
}
