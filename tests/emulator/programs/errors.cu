/* errors.cu — the errors that the runtime returns: of a call, of a launch, sticky or not; their
 * names; and work after an error that is not sticky. */
#include "check.cuh"
#include <cstring>

static __global__ void set(int *value) { value[threadIdx.x] = 7; }

/* A launch with too many threads or none: the manual names one error, an H200 (CUDA 13.0) the
 * other. */
static bool is_refusal(cudaError_t error)
{
    return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

int main()
{
    int *value = NULL, *huge = NULL;
    EXPECT(cudaMalloc((void **)&huge, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    EXPECT(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(!strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation"));
    EXPECT(!strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory"));
    EXPECT(!strcmp(cudaGetErrorString(cudaSuccess), "no error"));

    CUDA(cudaMalloc((void **)&value, 1024 * sizeof(int)));
    set<<<1, 2048>>>(value);
    EXPECT(is_refusal(cudaGetLastError()));
    set<<<0, 32>>>(value);
    EXPECT(is_refusal(cudaGetLastError()));
    EXPECT(cudaMemcpy(value, value, 4, (cudaMemcpyKind)77) == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaMemcpy(NULL, value, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    EXPECT(cudaFree((char *)value + 4) == cudaErrorInvalidValue);
    CUDA(cudaFree(NULL));
    cudaGetLastError();

    set<<<1, 1024>>>(value); /* the error is cleared */
    CUDA_LAUNCHED();
    for (int v : host_copy(value, 1024)) EXPECT(v == 7);

    set<<<1, 32>>>(NULL); /* this one is sticky */
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaMalloc((void **)&huge, 4) == cudaErrorIllegalAddress);
    EXPECT(cudaFree(value) == cudaErrorIllegalAddress);
    return right("errors: of calls, of launches, sticky ones");
}
