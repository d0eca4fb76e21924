/* driver_mixed.cu — the runtime and the driver API in one program: the primary context is that of
 * the runtime, and memory, streams, kernels and errors of one are those of the other. */
#include "driver.cuh"

static __global__ void store(int *p, int value) { p[threadIdx.x] = value; }

static CUcontext current(void)
{
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    return context;
}

int main()
{
    CUcontext primary, own, owner;
    CUmodule module;
    CUfunction add, from_runtime;
    CUstream stream;
    int *p, n = 32, active, value = 41;
    unsigned flags;
    CUDA(cudaFree(0));
    EXPECT(current() != NULL); /* without cuInit */
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&primary, 0));
    EXPECT(current() == primary);

    CU(cuModuleLoadData(&module, kernels));
    CU(cuModuleGetFunction(&add, module, "add"));
    CU(cuStreamCreate(&stream, 0));
    CUDA(cudaMalloc((void **)&p, n * sizeof(int)));
    store<<<1, n, 0, stream>>>(p, value);
    CUDA(cudaGetLastError());
    void *args[] = {&p, &n};
    CU(launch(add, 1, n, args, stream));
    CUDA(cudaStreamSynchronize(stream));
    for (int got : host_ints((CUdeviceptr)p, n)) EXPECT(got == 42);

    void *store_args[] = {&p, &value};
    CUDA(cudaGetFuncBySymbol(&from_runtime, (const void *)store));
    CU(launch(from_runtime, 1, n, store_args));
    for (int got : host_copy(p, n)) EXPECT(got == 41);

    CU(cuMemFree((CUdeviceptr)p));
    IS(cuMemFree((CUdeviceptr)p), CUDA_ERROR_INVALID_VALUE);
    CUDA(cudaGetLastError()); /* errors of the driver API are not the runtime's */

    CU(cuCtxCreate(&own, NULL, 0, 0));
    CUDA(cudaMalloc((void **)&p, 64)); /* in the current context */
    CU(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)p));
    EXPECT(owner == own);
    CUDA(cudaSetDevice(0));
    EXPECT(current() == primary);
    CU(cuCtxSetCurrent(NULL));
    CUDA(cudaFree(0));
    EXPECT(current() == primary);
    CU(cuCtxDestroy(own));

    CU(cuDevicePrimaryCtxRelease(0)); /* ours; the runtime has retained it, too */
    CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(active);
    CUDA(cudaDeviceReset());
    CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
    EXPECT(!active);
    IS(cuMemAlloc((CUdeviceptr *)&p, 64), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CUDA(cudaMalloc((void **)&p, 64));
    return right("driver: together with the runtime");
}
