/* nvrtc.cu — compiles a kernel's text while it runs, by NVIDIA's NVRTC, which needs no GPU, and
 * loads the PTX by the driver API. */
#include "driver.cuh"

#include <nvrtc.h>

#define NVRTC(call)                                                                                \
    do {                                                                                           \
        nvrtcResult result_ = (call);                                                              \
        if (result_ != NVRTC_SUCCESS) {                                                            \
            printf("line %d: %s: %s\n", __LINE__, #call, nvrtcGetErrorString(result_));            \
            exit(EXIT_WRONG);                                                                      \
        }                                                                                          \
    } while (0)

static const char source[] = R"(
template <typename T> __global__ void scaled_sum(T *y, const T *x, T a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
)";

/* PTX for the oldest GPU that NVRTC knows, so that all can run it. */
static std::string compile(const char *instance, std::string *kernel)
{
    nvrtcProgram program;
    const char *options[] = {"--gpu-architecture=compute_75"}, *lowered;
    size_t bytes;
    NVRTC(nvrtcCreateProgram(&program, source, "scaled_sum.cu", 0, NULL, NULL));
    NVRTC(nvrtcAddNameExpression(program, instance));
    NVRTC(nvrtcCompileProgram(program, 1, options));
    NVRTC(nvrtcGetLoweredName(program, instance, &lowered));
    *kernel = lowered;
    NVRTC(nvrtcGetPTXSize(program, &bytes));
    std::string ptx(bytes, '\0');
    NVRTC(nvrtcGetPTX(program, &ptx[0]));
    NVRTC(nvrtcDestroyProgram(&program));
    return ptx;
}

static int run()
{
    const int count = 1000, threads = 128;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction f;
    CUdeviceptr x, y;
    std::string kernel, ptx = compile("scaled_sum<int>", &kernel);
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuCtxCreate(&context, NULL, 0, device));
    CU(cuModuleLoadData(&module, ptx.c_str()));
    CU(cuModuleGetFunction(&f, module, kernel.c_str()));
    std::vector<int> in = random_values<int>(count, 100), expected(count, 5);
    x = device_ints(in);
    y = device_ints(expected);
    int a = 3, n = count;
    void *args[] = {&y, &x, &a, &n};
    CU(launch(f, (unsigned)blocks_for(n, threads), threads, args));
    for (int i = 0; i < n; i++) expected[i] += a * in[i];
    expect_same("sum", host_ints(y, n), expected);
    CU(cuMemFree(x));
    CU(cuMemFree(y));
    CU(cuModuleUnload(module));
    CU(cuCtxDestroy(context));
    return right("NVRTC compiles a template while the program runs");
}

PROGRAMS({"nvrtc", run})
