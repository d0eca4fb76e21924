/* removed.h — what CUDA 12 and 13 removed from the runtime API, for programs that still use it.
 * `emu make` gives it to nvcc by -include (command/nvcc.c); for a GPU, a program may
 * include it after cuda_runtime.h.
 *
 * A file that nvcc only hands on to the host's compiler gets the new names alone, because the
 * runtime API may not be included there; and so does C++ before C++11. */
#ifndef EMU_REMOVED_H
#define EMU_REMOVED_H

#define cudaThreadSynchronize    cudaDeviceSynchronize
#define cudaThreadExit           cudaDeviceReset
#define cudaThreadSetLimit       cudaDeviceSetLimit
#define cudaThreadGetLimit       cudaDeviceGetLimit
#define cudaThreadSetCacheConfig cudaDeviceSetCacheConfig
#define cudaThreadGetCacheConfig cudaDeviceGetCacheConfig

#if defined(__CUDACC__) && CUDART_VERSION >= 13000 && __cplusplus >= 201103L

/* ---- properties ------------------------------------------------------------------------------ */

/* cudaDeviceProp with the fields that it had. Before C++17, `= {0}` needs a constructor. */
struct emuDeviceProp : cudaDeviceProp {
    int clockRate, memoryClockRate; /* kHz */
    int deviceOverlap, kernelExecTimeoutEnabled, computeMode, maxTexture1DLinear,
        singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
#if __cplusplus < 201703L
    emuDeviceProp() = default;
    emuDeviceProp(int) : emuDeviceProp() {}
#endif
};

static inline cudaError_t cudaGetDeviceProperties(emuDeviceProp *p, int device)
{
    cudaError_t error = cudaGetDeviceProperties(static_cast<cudaDeviceProp *>(p), device);
    struct {
        int *field;
        cudaDeviceAttr attribute;
    } const had[] = {
        {&p->clockRate, cudaDevAttrClockRate},
        {&p->memoryClockRate, cudaDevAttrMemoryClockRate},
        {&p->deviceOverlap, cudaDevAttrGpuOverlap},
        {&p->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
        {&p->computeMode, cudaDevAttrComputeMode},
        {&p->maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth},
        {&p->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio},
    };
    for (auto &h : had)
        if (error == cudaSuccess) error = cudaDeviceGetAttribute(h.field, h.attribute, device);
    if (error == cudaSuccess) p->cooperativeMultiDeviceLaunch = 0; /* no function is left for it */
    return error;
}

#define cudaDeviceProp emuDeviceProp

/* ---- memory: a device's number in place of a cudaMemLocation --------------------------------- */

static inline cudaMemLocation emu_location(int device)
{
    cudaMemLocation location = {};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}

static inline cudaError_t cudaMemPrefetchAsync(const void *memory, size_t size, int device,
                                               cudaStream_t stream = 0)
{
    return cudaMemPrefetchAsync(memory, size, emu_location(device), 0, stream);
}

static inline cudaError_t cudaMemAdvise(const void *memory, size_t size, cudaMemoryAdvise advice,
                                        int device)
{
    return cudaMemAdvise(memory, size, advice, emu_location(device));
}

/* ---- graphs: without data of edges ----------------------------------------------------------- */

static inline cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t count,
                                           cudaGraphNodeParams *parameters)
{
    return cudaGraphAddNode(node, graph, dependencies, NULL, count, parameters);
}

static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphAddDependencies(graph, from, to, NULL, count);
}

static inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph,
                                                      const cudaGraphNode_t *from,
                                                      const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphRemoveDependencies(graph, from, to, NULL, count);
}

static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                                            cudaGraphNode_t *to, size_t *count)
{
    return cudaGraphGetEdges(graph, from, to, NULL, count);
}

static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                                       cudaGraphNode_t *others, size_t *count)
{
    return cudaGraphNodeGetDependencies(node, others, NULL, count);
}

static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                                         cudaGraphNode_t *others, size_t *count)
{
    return cudaGraphNodeGetDependentNodes(node, others, NULL, count);
}

/* ---- numbers of a double, which every GPU since 2008 has ------------------------------------- */

static inline cudaError_t cudaSetDoubleForDevice(double *) { return cudaSuccess; }
static inline cudaError_t cudaSetDoubleForHost(double *) { return cudaSuccess; }

/* ---- what cannot be had: the compiler says what to do ---------------------------------------- */

/* Macros, because nvcc checks no call of which an argument is wrong, as a reference to a texture
 * is. */
#define EMU_GONE(name, instead)                                                                    \
    []() -> cudaError_t {                                                                          \
        static_assert(false, name " was removed from CUDA; " instead);                             \
        return cudaErrorNotSupported;                                                              \
    }()
#define EMU_NO_TEXTURE(name)                                                                       \
    EMU_GONE(name, "use a texture object (cudaCreateTextureObject) in place of a reference")
#define EMU_NO_SURFACE(name) EMU_GONE(name, "use a surface object (cudaCreateSurfaceObject)")

#define cudaBindTexture(...)                 EMU_NO_TEXTURE("cudaBindTexture")
#define cudaBindTexture2D(...)               EMU_NO_TEXTURE("cudaBindTexture2D")
#define cudaBindTextureToArray(...)          EMU_NO_TEXTURE("cudaBindTextureToArray")
#define cudaBindTextureToMipmappedArray(...) EMU_NO_TEXTURE("cudaBindTextureToMipmappedArray")
#define cudaUnbindTexture(...)               EMU_NO_TEXTURE("cudaUnbindTexture")
#define cudaGetTextureReference(...)         EMU_NO_TEXTURE("cudaGetTextureReference")
#define cudaGetTextureAlignmentOffset(...)   EMU_NO_TEXTURE("cudaGetTextureAlignmentOffset")
#define cudaBindSurfaceToArray(...)          EMU_NO_SURFACE("cudaBindSurfaceToArray")
#define cudaGetSurfaceReference(...)         EMU_NO_SURFACE("cudaGetSurfaceReference")
#define cudaLaunchCooperativeKernelMultiDevice(...)                                                \
    EMU_GONE("cudaLaunchCooperativeKernelMultiDevice", "launch a kernel on each device")

#endif
#endif
