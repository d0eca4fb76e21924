/* driver_launch.cu — the driver API: modules, libraries and linked code; the ways to launch;
 * streams, events, a captured graph; attributes and occupancy. */
#include "driver.cuh"

enum { N = 1000, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS };

static size_t shared_of(int threads) { return (size_t)threads * 4; }

/* Each way to launch adds 1 to all elements; returns how many there were. */
static int launch_all_ways(const Driver &driver, CUdeviceptr array)
{
    int n = N;
    void *args[] = {&array, &n};
    CU(launch(driver.add, BLOCKS, THREADS, args));

    char buffer[12];
    size_t bytes = sizeof buffer;
    memcpy(buffer, &array, 8);
    memcpy(buffer + 8, &n, 4);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    CU(launch(driver.add, BLOCKS, THREADS, NULL, NULL, 0, extra));
    CU(cuLaunchCooperativeKernel(driver.add, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, args));

    CUlaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    CUlaunchConfig config = {BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, &attribute, 1};
    CU(cuLaunchKernelEx(&config, driver.add, args, NULL));
    return 4;
}

static int launch_in_streams(const Driver &driver, CUdeviceptr array)
{
    int n = N;
    void *args[] = {&array, &n};
    CUstream first, second;
    CUevent begin, end;
    CUcontext context;
    float time;
    CU(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    CU(cuStreamCreateWithPriority(&second, CU_STREAM_NON_BLOCKING, 0));
    CU(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    CU(cuEventCreate(&end, CU_EVENT_DEFAULT));
    CU(cuEventRecord(begin, first));
    CU(launch(driver.add, BLOCKS, THREADS, args, first));
    CU(cuEventRecord(end, first));
    CU(cuStreamWaitEvent(second, end, 0));
    CU(launch(driver.add, BLOCKS, THREADS, args, second));
    CU(cuStreamSynchronize(second));
    CU(cuEventElapsedTime(&time, begin, end));
    EXPECT(time >= 0);
    CU(cuStreamGetCtx(first, &context));
    EXPECT(context == driver.context);

    CUgraph graph;
    CUgraphExec run;
    CU(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(launch(driver.add, BLOCKS, THREADS, args, first));
    CU(cuStreamEndCapture(first, &graph));
    CU(cuGraphInstantiate(&run, graph, 0));
    CU(cuGraphLaunch(run, first));
    CU(cuGraphLaunch(run, first));
    CU(cuStreamSynchronize(first));
    CU(cuGraphExecDestroy(run));
    CU(cuGraphDestroy(graph));
    CU(cuEventDestroy(begin));
    CU(cuEventDestroy(end));
    CU(cuStreamDestroy(first));
    CU(cuStreamDestroy(second));
    return 4;
}

/* A library belongs to no context, and its kernel is launched as a function, too. */
static int launch_from_library(CUdeviceptr array)
{
    int n = N;
    void *args[] = {&array, &n};
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    const char *name;
    unsigned count;
    CU(cuLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0));
    CU(cuLibraryGetKernelCount(&count, library));
    EXPECT(count == 4);
    CU(cuLibraryGetKernel(&kernel, library, "add"));
    CU(cuKernelGetName(&name, kernel));
    EXPECT(!strcmp(name, "add"));
    CU(launch((CUfunction)kernel, BLOCKS, THREADS, args));
    CU(cuKernelGetFunction(&function, kernel));
    CU(launch(function, BLOCKS, THREADS, args));
    CU(cuCtxSynchronize());
    CU(cuLibraryUnload(library));
    return 2;
}

/* One text calls a function that the other one has. */
static int launch_linked(CUdeviceptr array)
{
    static const char caller[] = PTX_HEAD R"(
.extern .func (.param .b32 result) two();
.visible .entry add_two(.param .u64 array)
{
    .reg .b32 %r<4>;
    .reg .b64 %a;
    .param .b32 result;
    ld.param.u64 %a, [array];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %a, %r1, 4, %a;
    call (result), two;
    ld.param.b32 %r2, [result];
    ld.global.u32 %r3, [%a];
    add.u32 %r3, %r3, %r2;
    st.global.u32 [%a], %r3;
    ret;
}
)";
    static const char called[] = PTX_HEAD R"(
.visible .func (.param .b32 result) two()
{
    st.param.b32 [result], 2;
    ret;
}
)";
    CUlinkState link;
    CUmodule module;
    CUfunction function;
    void *image, *args[] = {&array};
    size_t bytes;
    CU(cuLinkCreate(0, NULL, NULL, &link));
    CU(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "a", 0, NULL, NULL));
    CU(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)called, sizeof called, "b", 0, NULL, NULL));
    CU(cuLinkComplete(link, &image, &bytes));
    std::vector<char> copy((char *)image, (char *)image + bytes);
    CU(cuLinkDestroy(link));
    CU(cuModuleLoadData(&module, copy.data()));
    CU(cuModuleGetFunction(&function, module, "add_two"));
    CU(launch(function, 1, N, args));
    CU(cuModuleUnload(module));
    return 2;
}

static void check_attributes(const Driver &driver)
{
    int value, blocks, grid, block;
    size_t offset, size;
    unsigned count;
    CUmodule module;
    CUfunction all[4], fill;
    CU(cuModuleGetFunctionCount(&count, driver.module));
    EXPECT(count == 4);
    CU(cuModuleEnumerateFunctions(all, 4, driver.module));
    CU(cuFuncGetModule(&module, driver.add));
    EXPECT(module == driver.module);
    CU(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, driver.add));
    EXPECT(value == 75);
    CU(cuFuncGetParamInfo(driver.add, 1, &offset, &size));
    EXPECT(offset == 8 && size == 4);

    CU(cuModuleGetFunction(&fill, driver.module, "fill"));
    CU(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60 << 10));
    CU(launch(fill, 1, 32, NULL, NULL, 60 << 10));
    CU(cuCtxSynchronize());

    CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, driver.none, 256, 0));
    EXPECT(blocks >= 4 && blocks <= 8);
    CU(cuOccupancyMaxPotentialBlockSize(&grid, &block, fill, shared_of, 0, 512));
    EXPECT(grid > 0 && block > 0 && block <= 512);
}

static void check_names(void)
{
    CUresult (*allocate)(CUdeviceptr *, size_t) = NULL;
    CUdriverProcAddressQueryResult result;
    void *function = NULL;
    CUdeviceptr p;
    CU(cuGetProcAddress("cuMemAlloc", (void **)&allocate, 12000, 0, &result));
    EXPECT(result == CU_GET_PROC_ADDRESS_SUCCESS);
    CU(allocate(&p, 64));
    CU(cuMemFree(p));
    CU(cuGetProcAddress("cuMemAlloc_v2", &function, 12000, 0, &result));
    EXPECT(!function && result == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CU(cuGetProcAddress("cuLaunchKernel", &function, 12000,
                        CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &result));
    EXPECT(function && function != (void *)cuLaunchKernel);
}

int main()
{
    Driver driver;
    CUdeviceptr array = device_ints(std::vector<int>(N, 7)), step;
    size_t bytes;
    int sum = 7, two = 2;
    sum += launch_all_ways(driver, array);
    CU(cuModuleGetGlobal(&step, &bytes, driver.module, "step"));
    EXPECT(bytes == sizeof two);
    CU(cuMemcpyHtoD(step, &two, sizeof two));
    sum += 2 * launch_in_streams(driver, array);
    sum += launch_from_library(array);
    sum += launch_linked(array);
    for (int value : host_ints(array, N)) EXPECT(value == sum);
    check_attributes(driver);
    check_names();
    CU(cuMemFree(array));
    CU(cuModuleUnload(driver.module));
    CU(cuCtxDestroy(driver.context));
    return right("driver: modules, libraries, links, launches, streams, occupancy");
}
