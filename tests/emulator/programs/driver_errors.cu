/* driver_errors.cu — the driver API used wrongly: each call returns the error that an H200 with
 * driver 580 returned. */
#include "driver.cuh"

static void check_before_begin(void)
{
    int count;
    CUcontext context;
    CUdeviceptr p;
    CUmodule module;
    CUdevice device;
    IS(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuMemAlloc(&p, 4), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    CU(cuInit(0));
    CU(cuCtxGetCurrent(&context));
    EXPECT(context == NULL);
    IS(cuMemAlloc(&p, 4), CUDA_ERROR_INVALID_CONTEXT);
    CU(cuMemFree(0));
    IS(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxPopCurrent(&context), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuModuleLoadData(&module, kernels), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    CU(cuDeviceGetCount(&count));
    IS(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
    IS(cuDeviceGetAttribute(&count, (CUdevice_attribute)9999, 0), CUDA_ERROR_INVALID_VALUE);
}

/* Loads PTX, and returns the error. A message about it is in the buffer for errors. */
static CUresult load(const std::string &text)
{
    char log[500] = "";
    CUmodule module;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CUresult error = cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
    EXPECT((error != CUDA_SUCCESS) == (log[0] != '\0'));
    if (error == CUDA_SUCCESS) CU(cuModuleUnload(module));
    return error;
}

static void check_modules(const Driver &driver)
{
    const std::string kernel = ".visible .entry k() { ret; }\n";
    CUmodule module;
    CUfunction function;
    CUdeviceptr p;
    CU(load(kernels));
    CU(load(PTX_HEAD));
    IS(load("hello"), CUDA_ERROR_INVALID_IMAGE);
    IS(load(""), CUDA_ERROR_INVALID_IMAGE);
    IS(load(PTX_HEAD ".visible .entry k() { mov.u32 %r1, 5; ret; }"), CUDA_ERROR_INVALID_PTX);
    IS(load(PTX_HEAD + kernel + kernel), CUDA_ERROR_INVALID_PTX);
    IS(load(".version 8.8\n.target sm_121\n.address_size 64\n" + kernel), CUDA_ERROR_INVALID_PTX);
    IS(cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuModuleLoad(&module, "/nowhere.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
    IS(cuModuleGetFunction(&function, driver.module, "unknown"), CUDA_ERROR_NOT_FOUND);
    IS(cuModuleGetFunction(&function, driver.module, ""), CUDA_ERROR_INVALID_VALUE);
    IS(cuModuleGetFunction(&function, NULL, "add"), CUDA_ERROR_INVALID_HANDLE);
    IS(cuModuleGetGlobal(&p, NULL, driver.module, "unknown"), CUDA_ERROR_NOT_FOUND);
    CU(cuModuleGetGlobal(&p, NULL, driver.module, "step"));
    IS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
}

static void check_launches(const Driver &driver)
{
    CUdeviceptr p;
    int n = 4;
    void *args[] = {&p, &n};
    char buffer[64] = "";
    size_t bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    void *half[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_END};
    CUfunction limited, fill;
    size_t offset;
    CU(cuMemAlloc(&p, 64));
    CU(cuModuleGetFunction(&limited, driver.module, "limited"));
    CU(cuModuleGetFunction(&fill, driver.module, "fill"));
    IS(launch(fill, 1, 32, NULL, NULL, 50 << 10), CUDA_ERROR_INVALID_VALUE);
    IS(cuFuncGetParamInfo(driver.add, 2, &offset, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(launch(driver.add, 0, 32, args), CUDA_ERROR_INVALID_VALUE);
    IS(launch(driver.add, 1, 0, args), CUDA_ERROR_INVALID_VALUE);
    IS(launch(driver.add, 1, 2048, args), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(driver.none, 1, 65536, 1, 1, 1, 1, 0, NULL, NULL, NULL),
       CUDA_ERROR_INVALID_VALUE);
    IS(launch(driver.add, 1, 32, args, NULL, 300000), CUDA_ERROR_INVALID_VALUE);
    IS(launch(driver.add, 1, 32, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(launch(NULL, 1, 32, args), CUDA_ERROR_INVALID_HANDLE);
    CUresult too_large = launch(limited, 1, 65, NULL); /* the manual names the second one */
    EXPECT(too_large == CUDA_ERROR_INVALID_VALUE ||
           too_large == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    bytes = 200;
    IS(launch(driver.add, 1, 32, NULL, NULL, 0, extra), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    bytes = 12;
    IS(launch(driver.add, 1, 32, args, NULL, 0, extra), CUDA_ERROR_INVALID_VALUE);
    IS(launch(driver.add, 1, 32, NULL, NULL, 0, half), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchCooperativeKernel(driver.none, 1000000, 1, 1, 1024, 1, 1, 0, NULL, NULL),
       CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    CU(launch(driver.add, 1, 32, args));
    CU(cuCtxSynchronize());
    CU(cuMemFree(p));
}

static void check_memory(void)
{
    CUdeviceptr p, q;
    int host[4] = {0, 0, 0, 0};
    size_t pitch;
    unsigned type;
    IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)host),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAlloc(&p, (size_t)1 << 50), CUDA_ERROR_OUT_OF_MEMORY);
    CU(cuMemAlloc(&p, 64));
    IS(cuMemFree(p + 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(0, host, 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(p, NULL, 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD((CUdeviceptr)host, host, 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD32(p + 2, 1, 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD2D32(p, 18, 1, 4, 4), CUDA_ERROR_INVALID_VALUE);
    CU(cuMemsetD32(p, 1, 0));
    IS(cuMemGetAddressRange(&q, NULL, 16), CUDA_ERROR_NOT_FOUND);
    IS(cuMemAllocPitch(&q, &pitch, 100, 10, 3), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAllocManaged(&q, 64, 0), CUDA_ERROR_INVALID_VALUE);
    CU(cuMemFree(p));
    IS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
}

static void check_links(void)
{
    char log[500] = "";
    CUlinkState link;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CU(cuLinkCreate(2, options, values, &link));
    IS(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)"junk", 5, "junk", 0, NULL, NULL),
       CUDA_ERROR_INVALID_IMAGE);
    EXPECT(log[0] != '\0');
    CU(cuLinkDestroy(link));
}

/* A fault stays, even in a new context. */
static void check_fault(const Driver &driver)
{
    CUdeviceptr nowhere = 0, p;
    CUcontext other;
    int n = 1;
    void *args[] = {&nowhere, &n};
    CU(launch(driver.add, 1, 1, args));
    IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuMemAlloc(&p, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(launch(driver.none, 1, 1, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    CU(cuCtxDestroy(driver.context));
    IS(cuCtxCreate(&other, NULL, 0, driver.device), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuMemAlloc(&p, 4), CUDA_ERROR_INVALID_CONTEXT);
}

/* Modules, streams and memory end with their context, and are of no use in another one. */
static void check_ends(Driver &driver)
{
    CUcontext other;
    CUmodule module;
    CUfunction none;
    CUstream stream;
    CUdeviceptr p;
    CU(cuStreamCreate(&stream, 0));
    CU(cuMemAlloc(&p, 64));
    CU(cuCtxCreate(&other, NULL, 0, driver.device));
    IS(launch(driver.none, 1, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    CU(launch(driver.none, 1, 1, NULL, stream)); /* the stream is of the kernel's context */
    CU(cuModuleLoadData(&module, kernels));
    CU(cuModuleGetFunction(&none, module, "none"));
    IS(launch(none, 1, 1, NULL, stream), CUDA_ERROR_INVALID_HANDLE);
    CU(cuModuleUnload(module));
    IS(launch(none, 1, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    IS(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    CU(cuCtxDestroy(driver.context));
    IS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    IS(launch(driver.none, 1, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    CU(cuCtxDestroy(other));
    CU(cuCtxSetCurrent(NULL)); /* driver.context was below it */
}

int main()
{
    check_before_begin();
    Driver driver;
    check_modules(driver);
    check_launches(driver);
    check_memory();
    check_links();
    check_ends(driver);
    check_fault(Driver());
    return right("driver: the errors of wrong calls");
}
