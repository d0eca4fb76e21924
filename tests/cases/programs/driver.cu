/* driver.cu — the driver API. */
#include "driver.cuh"

/* The driver API: modules, libraries and linked code; the ways to launch; streams, events, a
 * captured graph; attributes and occupancy. */
namespace driver_launch
{
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

static int run()
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
} // namespace driver_launch

/* The driver API: memory of devices and of the host, pools, copies, fills, and what is known of
 * pointers. */
namespace driver_memory
{
enum { WIDTH = 12, HEIGHT = 5 };

static void check_fills(CUdeviceptr p)
{
    CU(cuMemsetD8(p, 1, 64));
    CU(cuMemsetD16Async(p, 0x0202, 8, NULL));
    CU(cuMemsetD32(p + 32, 0x03030303, 2));
    CU(cuMemsetD2D32(p, 32, 7, 1, 2));
    std::vector<int> got = host_ints(p, 16);
    const int expected[16] = {
        7, 0x02020202, 0x02020202, 0x02020202, 0x01010101, 0x01010101, 0x01010101, 0x01010101,
        7, 0x03030303, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101};
    expect_same("fill", got.data(), expected, 16);
}

/* A picture in pitched memory, to it by rows and back as one copy in three dimensions. */
static void check_rows(void)
{
    CUdeviceptr p;
    size_t pitch;
    std::vector<int> in = random_values<int>(WIDTH * HEIGHT, 1000), out(WIDTH * HEIGHT);
    CU(cuMemAllocPitch(&p, &pitch, WIDTH * sizeof(int), HEIGHT, 4));
    EXPECT(pitch >= WIDTH * sizeof(int));
    CUDA_MEMCPY2D rows;
    memset(&rows, 0, sizeof rows);
    rows.srcMemoryType = CU_MEMORYTYPE_HOST;
    rows.srcHost = in.data();
    rows.srcPitch = WIDTH * sizeof(int);
    rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    rows.dstDevice = p;
    rows.dstPitch = pitch;
    rows.WidthInBytes = WIDTH * sizeof(int);
    rows.Height = HEIGHT;
    CU(cuMemcpy2D(&rows));
    CUDA_MEMCPY3D box;
    memset(&box, 0, sizeof box);
    box.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    box.srcDevice = p;
    box.srcPitch = pitch;
    box.srcHeight = HEIGHT;
    box.srcXInBytes = sizeof(int);
    box.srcY = 1;
    box.dstMemoryType = CU_MEMORYTYPE_HOST;
    box.dstHost = out.data();
    box.dstPitch = WIDTH * sizeof(int);
    box.dstHeight = HEIGHT;
    box.WidthInBytes = (WIDTH - 1) * sizeof(int);
    box.Height = HEIGHT - 1;
    box.Depth = 1;
    CU(cuMemcpy3D(&box));
    for (int y = 0; y < HEIGHT - 1; y++)
        for (int x = 0; x < WIDTH - 1; x++)
            EXPECT(out[y * WIDTH + x] == in[(y + 1) * WIDTH + x + 1]);
    CU(cuMemFree(p));
}

static unsigned type_of(CUdeviceptr p)
{
    unsigned type = 0;
    CU(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    return type;
}

static void check_pointers(const Driver &driver, CUdeviceptr p)
{
    CUdeviceptr begin, host_on_device, managed;
    CUcontext context;
    size_t size;
    unsigned is_managed = 0, type = 9;
    int ordinal = 9;
    void *pinned;
    int on_stack = 0;
    CU(cuMemGetAddressRange(&begin, &size, p + 8));
    EXPECT(begin == p && size == 4096);
    CU(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p + 8));
    EXPECT(context == driver.context && type_of(p) == CU_MEMORYTYPE_DEVICE);
    CU(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    CU(cuMemHostGetDevicePointer(&host_on_device, pinned, 0));
    EXPECT(type_of(host_on_device) == CU_MEMORYTYPE_HOST);
    CU(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    *(int *)managed = 5;
    CU(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    EXPECT(is_managed && type_of(managed) == CU_MEMORYTYPE_DEVICE);
    CU(cuMemcpy(p, managed, sizeof(int)));
    EXPECT(host_ints(p, 1)[0] == 5);

    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *answers[] = {&type, &ordinal};
    CU(cuPointerGetAttributes(2, asked, answers, (CUdeviceptr)&on_stack));
    EXPECT(type == 0 && ordinal == -2);
    CU(cuMemFree(managed));
    CU(cuMemFreeHost(pinned));
}

static void check_pools(const Driver &driver)
{
    CUmemPoolProps properties;
    CUmemoryPool pool;
    CUdeviceptr p, q;
    cuuint64_t used;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = driver.device;
    CU(cuMemPoolCreate(&pool, &properties));
    CU(cuMemAllocFromPoolAsync(&p, 1000, pool, NULL));
    CU(cuMemAllocAsync(&q, 1000, NULL));
    CU(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT(used >= 1000);
    CU(cuMemFreeAsync(p, NULL));
    CU(cuMemFreeAsync(q, NULL));
    CU(cuStreamSynchronize(NULL));
    CU(cuMemPoolDestroy(pool));
}

static int run()
{
    Driver driver;
    CUdeviceptr p;
    size_t left, total;
    CU(cuMemAlloc(&p, 4096));
    CU(cuMemGetInfo(&left, &total));
    EXPECT(left < total);
    check_fills(p);
    check_rows();
    check_pointers(driver, p);
    check_pools(driver);
    CU(cuMemFree(p));
    CU(cuCtxDestroy(driver.context));
    return right("driver: memory, pools, copies, fills, pointers");
}
} // namespace driver_memory

/* The runtime and the driver API in one program: the primary context is that of the runtime, and
 * memory, streams, kernels and errors of one are those of the other. */
namespace driver_mixed
{
static __global__ void store(int *p, int value) { p[threadIdx.x] = value; }

static CUcontext current(void)
{
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    return context;
}

static int run()
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
} // namespace driver_mixed

/* The driver API used wrongly: each call returns the error that an H200 with driver 580 returned.
 * */
namespace driver_errors
{
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

static int run()
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
} // namespace driver_errors

PROGRAMS({"driver_launch", driver_launch::run}, {"driver_memory", driver_memory::run},
        {"driver_mixed", driver_mixed::run}, {"driver_errors", driver_errors::run})
