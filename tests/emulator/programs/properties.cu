/* properties.cu — the queries of a program before it starts: properties and attributes of the
 * device, attributes of kernels, versions, and that the code that runs is the one for this GPU. */
#include "check.cuh"
#include <cstring>

static __global__ void which_code(int *arch)
{
#ifdef __CUDA_ARCH__
    *arch = __CUDA_ARCH__;
#endif
}

static __global__ void __launch_bounds__(256) uses_shared(int *out)
{
    __shared__ int s[1000];
    extern __shared__ int dynamic[];
    s[threadIdx.x] = threadIdx.x;
    dynamic[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[255 - threadIdx.x] + dynamic[threadIdx.x];
}

static int attribute(cudaDeviceAttr which)
{
    int value;
    CUDA(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

int main()
{
    cudaDeviceProp p;
    CUDA(cudaGetDeviceProperties(&p, 0));
    EXPECT(strlen(p.name) > 0 && p.warpSize == 32 && p.maxThreadsPerBlock == 1024);
    EXPECT(p.major == attribute(cudaDevAttrComputeCapabilityMajor));
    EXPECT(p.minor == attribute(cudaDevAttrComputeCapabilityMinor));
    EXPECT(p.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount));
    EXPECT((int)p.sharedMemPerBlock == attribute(cudaDevAttrMaxSharedMemoryPerBlock));
    EXPECT((int)p.sharedMemPerBlockOptin == attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    EXPECT(p.maxThreadsDim[2] == attribute(cudaDevAttrMaxBlockDimZ) && p.maxThreadsDim[2] == 64);
    EXPECT(p.maxGridSize[0] == INT32_MAX && p.maxGridSize[1] == 65535);
    EXPECT(p.sharedMemPerBlock == 48 << 10 && p.totalConstMem == 64 << 10);

    int driver, runtime;
    CUDA(cudaDriverGetVersion(&driver));
    CUDA(cudaRuntimeGetVersion(&runtime));
    EXPECT(runtime >= 12000 && driver >= runtime);
    size_t free_bytes, total;
    CUDA(cudaMemGetInfo(&free_bytes, &total));
    EXPECT(free_bytes > 0 && free_bytes <= total);

    int *out = device_array<int>(256);
    which_code<<<1, 1>>>(out);
    CUDA_LAUNCHED();
    int arch = host_copy(out, 1)[0] / 10;
    EXPECT(arch == p.major * 10 + p.minor);

    cudaFuncAttributes a;
    CUDA(cudaFuncGetAttributes(&a, uses_shared));
    EXPECT(a.sharedSizeBytes == 4000 && a.maxThreadsPerBlock == 256 && a.numRegs > 0);
    EXPECT(a.ptxVersion == arch && a.binaryVersion == arch);
    const int MORE = 60000; /* beside 4000 static bytes: more than the 48 KiB of the default */
    EXPECT(a.maxDynamicSharedSizeBytes == (48 << 10) - 4000);
    uses_shared<<<1, 256, MORE>>>(out);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CUDA(cudaFuncSetAttribute(uses_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, MORE));
    uses_shared<<<1, 256, MORE>>>(out);
    CUDA_LAUNCHED();
    std::vector<int> got = host_copy(out, 256);
    for (int i = 0; i < 256; i++) EXPECT(got[i] == 256 - i);
    return right("properties of the device and of kernels");
}
