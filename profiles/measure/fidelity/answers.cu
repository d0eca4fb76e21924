/* answers.cu — what the runtime answers: attributes, limits, occupancies, error codes. measure.py
 * records the table. A row has a call and its answer: values, or the name of its error, and that of
 * cudaGetLastError afterwards if it is another one. The last rows come after a kernel's fault. */
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <string>

using std::to_string;

static void row(const std::string &call, cudaError_t error, std::initializer_list<long> values = {})
{
    std::string answer = cudaGetErrorName(error), last = cudaGetErrorName(cudaGetLastError());
    if (answer != last) answer += " then " + last;
    if (answer == "cudaSuccess" && values.size() > 0) answer = "";
    for (long value : values)
        if (error == cudaSuccess) answer += (answer == "" ? "" : " ") + to_string(value);
    printf("\"%s\",%s\n", call.c_str(), answer.c_str());
}
#define SAY(call) row(#call, call)
#define ROW(name, call, ...)                                                                       \
    do {                                                                                           \
        cudaError_t error = call;                                                                  \
        row(name, error, {__VA_ARGS__});                                                           \
    } while (0)

__constant__ int ten[10];
extern __shared__ int4 dynamic[];

__global__ void plain() {}
__global__ void store(int *p) { *p = ten[*p]; }
__global__ void __cluster_dims__(2) clustered() {}
__global__ void shared(int *p)
{
    __shared__ int fixed[33];
    fixed[*p] = dynamic[*p].x = *p;
    *p = fixed[2 * *p] + dynamic[2 * *p].y;
}
__global__ void __maxnreg__(32) wide(double *p)
{
    double s[40]; /* all are live at once */
    for (int i = 0; i < 40; i++) s[i] = p[i];
    for (int j = 0; j < 9; j++)
        for (int i = 0; i < 40; i++) s[i] *= s[(i + 7) % 40];
    for (int i = 0; i < 40; i++) p[i] = s[i];
}

static void tell_device()
{
    int value;
    size_t bytes;
    for (int i = 1; i < cudaDevAttrMax; i++)
        ROW("attribute " + to_string(i), cudaDeviceGetAttribute(&value, (cudaDeviceAttr)i, 0),
            value);
    for (int i = 0; i < 11; i++)
        ROW("limit " + to_string(i), cudaDeviceGetLimit(&bytes, (cudaLimit)i), (long)bytes);
    for (int to : {0, 1, 1000, 4097, 524304, 5000000, 100000000, 1000})
        for (int i = 0; i < 7; i++) {
            row("limit " + to_string(i) + " set to " + to_string(to),
                cudaDeviceSetLimit((cudaLimit)i, to));
            ROW("then it is", cudaDeviceGetLimit(&bytes, (cudaLimit)i), (long)bytes);
        }
}

static void tell_kernel(const std::string &name, const void *kernel)
{
    cudaFuncAttributes a;
    ROW("attributes of " + name, cudaFuncGetAttributes(&a, kernel), (long)a.sharedSizeBytes,
        (long)a.constSizeBytes, (long)a.localSizeBytes, a.maxThreadsPerBlock, a.cacheModeCA,
        a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout, a.requiredClusterWidth);
}

/* Blocks of 128 threads by their dynamic shared memory, and the room that 3 leave. */
static void tell_blocks(const std::string &how)
{
    int n[3];
    size_t room;
    for (int i = 0; i < 3; i++)
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n[i], plain, 128, i * i * 5000);
    ROW("blocks, " + how, cudaOccupancyAvailableDynamicSMemPerBlock(&room, plain, 3, 128), n[0],
        n[1], n[2], (long)room);
}

static void tell_kernels()
{
    int blocks;
    cudaFuncAttributes a;
    tell_kernel("clustered", (const void *)clustered);
    tell_kernel("shared", (const void *)shared);
    for (int i = 0; i < 16; i++) {
        cudaDeviceSetCacheConfig((cudaFuncCache)(i / 4));
        cudaFuncSetCacheConfig(plain, (cudaFuncCache)(i % 4));
        tell_blocks("device's cache " + to_string(i / 4) + ", kernel's " + to_string(i % 4));
    }
    for (int i : {0, 1, 10, 25, 50, 75, 90, 100, -1}) {
        cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, i);
        tell_blocks("carveout " + to_string(i));
        tell_kernel("plain, carveout " + to_string(i), (const void *)plain);
    }
    ROW("registers of wide", cudaFuncGetAttributes(&a, wide), a.numRegs);
    ROW("blocks of wide", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, wide, 1024, 0),
        blocks);
    for (int i : {-1, 0, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 77})
        row("cudaFuncSetAttribute of " + to_string(i),
            cudaFuncSetAttribute((const void *)shared, (cudaFuncAttribute)i, 1));
}

/* The attributes of a node of a graph that was captured from a launch. */
static void tell_node(const std::string &name, void (*kernel)())
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    size_t count = 1;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    kernel<<<2, 1, 0, stream>>>();
    cudaStreamEndCapture(stream, &graph);
    cudaGraphGetNodes(graph, &node, &count);
    for (int i = 0; i < 18; i++) {
        auto id = (cudaLaunchAttributeID)i;
        cudaLaunchAttributeValue value = {};
        int words[3] = {};
        cudaError_t error = cudaGraphKernelNodeGetAttribute(node, id, &value);
        memcpy(words, &value, sizeof words);
        row(name + " node's attribute " + to_string(i), error, {words[0], words[1], words[2]});
        if (i > 0) row("set to that", cudaGraphKernelNodeSetAttribute(node, id, &value));
    }
}

static void tell_errors()
{
    int *p, host = 0;
    const void *strange = &host;
    size_t bytes;
    void *nothing[] = {NULL};
    cudaFuncAttributes a;
    SAY(cudaMallocManaged(&p, 0));
    SAY(cudaFree(p));
    SAY(cudaHostAlloc(&p, 4, 0));
    SAY(cudaHostUnregister(p));
    SAY(cudaHostUnregister(&host));
    SAY(cudaFuncGetAttributes(&a, strange));
    SAY(cudaFuncGetAttributes(&a, NULL));
    SAY(cudaFuncSetAttribute(strange, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    SAY(cudaFuncSetCacheConfig(strange, cudaFuncCachePreferL1));
    SAY(cudaFuncSetCacheConfig(plain, (cudaFuncCache)9));
    SAY(cudaDeviceSetCacheConfig((cudaFuncCache)9));
    SAY(cudaLaunchKernel(strange, 1, 1, nothing, 0, NULL));
    SAY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&host, strange, 1, 0));
    SAY(cudaMemGetInfo(NULL, &bytes));
    for (unsigned i : {1, 3, 5, 7, 8, 0x10, 0x20, 0x40, 0x80, 0x100, 0xff})
        row("cudaSetDeviceFlags " + to_string(i), cudaSetDeviceFlags(i));
    SAY(cudaDeviceEnablePeerAccess(0, 0));
}

static void tell_arrays()
{
    cudaArray_t array, other;
    float *p, host[64];
    cudaChannelFormatDesc real = cudaCreateChannelDesc<float>();
    cudaTextureObject_t object;
    cudaResourceDesc r = {};
    cudaTextureDesc t = {};
    cudaMalloc(&p, 4096);
    cudaMallocArray(&array, &real, 8, 4);
    for (unsigned i : {0x1, 0x10, 0x20, 0x40, 0x80, 0x100, 0x4000000})
        row("array with flags " + to_string(i), cudaMallocArray(&other, &real, 4, 4, i));
    SAY(cudaMemcpy2DToArray(array, 0, 0, host, 32, 36, 4, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy2DToArray(array, 0, 0, host, 36, 36, 4, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy2DToArray(array, 2, 0, host, 32, 4, 4, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy2DToArray(NULL, 0, 0, host, 32, 32, 4, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy2DArrayToArray(array, 0, 0, NULL, 0, 0, 32, 1));
    SAY(cudaGetChannelDesc(&real, NULL));
    SAY(cudaCreateTextureObject(&object, &r, &t, NULL));
    r.res.array.array = array;
    SAY(cudaCreateSurfaceObject(&object, &r));
    t.readMode = cudaReadModeNormalizedFloat;
    row("texture of floats as fractions", cudaCreateTextureObject(&object, &r, &t, NULL));
    r.resType = cudaResourceTypeLinear;
    r.res.linear = {p, real, 4096};
    row("the same, of memory", cudaCreateTextureObject(&object, &r, &t, NULL));
    SAY(cudaDestroyTextureObject(0));
    SAY(cudaDestroySurfaceObject(0));
}

static void *of_driver(const char *name)
{
    void *function = NULL;
    cudaGetDriverEntryPointByVersion(name, &function, CUDART_VERSION, 0, NULL);
    return function;
}
#define OF_DRIVER(name) ((decltype(&name))of_driver(#name))

static void tell_registers()
{
    std::string ptx = ".version 8.0\n.target sm_90\n.const .b8 c[80];\n.entry k(.param .u64 p)\n{\n"
                      ".reg .b64 a, f<40>;\nld.param.u64 a, [p];\n";
    for (int i = 0; i < 80; i++) {
        std::string at = "[a+" + to_string(8 * i) + "]", f = "f" + to_string(i < 40 ? i : 79 - i);
        ptx += i < 40 ? "ld.global.u64 " + f + "," + at : "st.global.u64 " + at + "," + f;
        ptx += ";\n";
    }
    ptx += "ret;\n}\n";
    for (long most : {8, 24, 32, 39, 40}) {
        CUmodule module;
        CUfunction k;
        CUjit_option option = CU_JIT_MAX_REGISTERS;
        int registers, constants;
        OF_DRIVER(cuModuleLoadDataEx)(&module, ptx.c_str(), 1, &option, (void **)&most);
        OF_DRIVER(cuModuleGetFunction)(&k, module, "k");
        OF_DRIVER(cuFuncGetAttribute)(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, k);
        OF_DRIVER(cuFuncGetAttribute)(&constants, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, k);
        row("CU_JIT_MAX_REGISTERS " + to_string(most), cudaSuccess, {registers, constants});
    }
}

static void tell_fault()
{
    int *p, value;
    size_t bytes;
    cudaFuncAttributes a;
    cudaDeviceProp all;
    SAY((store<<<1, 1>>>(NULL), cudaDeviceSynchronize()));
    SAY(cudaGetLastError());
    SAY(cudaSetDevice(0));
    SAY(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    SAY(cudaGetDeviceProperties(&all, 0));
    SAY(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    SAY(cudaMalloc(&p, 0));
    SAY(cudaMalloc(&p, 8));
    SAY(cudaFuncGetAttributes(&a, plain));
    SAY((plain<<<1, 1>>>(), cudaPeekAtLastError()));
    SAY((cudaDeviceReset(), cudaMalloc(&p, 16)));
}

int main()
{
    puts("call,answer");
    tell_device();
    tell_kernels();
    tell_node("plain", plain);
    tell_node("clustered", clustered);
    tell_errors();
    tell_arrays();
    tell_registers();
    tell_fault();
}
