/* driver_launch.c — the driver API: launches, streams, events. */
#include "driver.h"

/* ---- parameters in one buffer, as `extra` gives them ----------------------------------------- */

struct buffer {
    const void *data;
    const size_t *bytes;
};

/* Reads the list. False: it contains something other than a buffer and its size, or only one of
 * them. */
static bool read_extra(void **extra, struct buffer *buffer)
{
    *buffer = (struct buffer){NULL, NULL};
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer->data = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            buffer->bytes = extra[1];
        else
            return false;
    }
    return (buffer->data == NULL) == (buffer->bytes == NULL);
}

/* An array of pointers to parameters, and after it a copy of the buffer, filled up with zeros. */
static void **spread(const struct emu_kernel_info *info, const struct buffer *buffer, size_t bytes)
{
    size_t pointers = (info->params + 1) * sizeof(void *);
    char *memory = allocated(calloc(1, pointers + bytes));
    memcpy(memory + pointers, buffer->data, *buffer->bytes);
    void **args = (void **)memory;
    for (unsigned i = 0; i < info->params; i++) args[i] = memory + pointers + info->param_offset[i];
    return args;
}

/* A GPU accepts a buffer that is too small, and then the kernel reads undefined values. Here it
 * reads zeros. */
static int take_buffer(const struct function *function, const struct buffer *buffer, void ***args)
{
    const struct emu_kernel_info *info = emu_kernel_info(function->kernel);
    unsigned last = info->params - 1;
    size_t bytes = info->params > 0 ? info->param_offset[last] + info->param_size[last] : 0;
    if (*buffer->bytes != bytes)
        cudart_printf("a launch of %s gives its parameters in a buffer of %zu bytes, and they take "
                      "%zu",
                      function->name, *buffer->bytes, bytes);
    if (*buffer->bytes > bytes) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    *args = spread(info, buffer, bytes);
    return CUDA_SUCCESS;
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* Does the kernel belong to a module of another context than the stream's? */
static bool is_elsewhere(const struct program *program, CUstream stream)
{
    const struct object *object = cudart_stream_object(stream);
    const struct context *its = object != NULL ? object->context : NULL;
    const struct context *here = its != NULL ? its : cudart_current_context();
    return program->module != NULL && program->module->context != NULL &&
           program->module->context != here;
}

static int start_from(const cudaLaunchConfig_t *config, const void *kernel,
                      const struct buffer *buffer)
{
    struct function *function;
    void **args;
    int device = cudart_device()->number;
    cudart_work_begins(device); /* so that the kernel stays loaded */
    int error = (int)cudart_function(kernel, &function);
    if (error == CUDA_SUCCESS) error = take_buffer(function, buffer, &args);
    cudart_work_ends(device);
    if (error != CUDA_SUCCESS) return error;
    error = (int)cudaLaunchKernelExC(config, kernel, args);
    free(args);
    return error;
}

static int launch(const cudaLaunchConfig_t *config, const void *kernel, void **args, void **extra)
{
    const struct program *program = cudart_program_of(kernel);
    struct buffer buffer = {NULL, NULL};
    if (program == NULL || is_elsewhere(program, config->stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (extra != NULL && !read_extra(extra, &buffer)) return CUDA_ERROR_INVALID_VALUE;
    if (buffer.data != NULL && args != NULL) return CUDA_ERROR_INVALID_VALUE;
    if (cudart_device()->fault_known) return (int)cudart_refusal();
    return buffer.data != NULL ? start_from(config, kernel, &buffer)
                               : (int)cudaLaunchKernelExC(config, kernel, args);
}

_Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute),
               "attributes of both APIs are alike");

static cudaLaunchConfig_t config_of(const CUlaunchConfig *c)
{
    return (cudaLaunchConfig_t){.gridDim = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                .blockDim = {c->blockDimX, c->blockDimY, c->blockDimZ},
                                .dynamicSmemBytes = c->sharedMemBytes,
                                .stream = c->hStream,
                                .attrs = (cudaLaunchAttribute *)c->attrs,
                                .numAttrs = c->numAttrs};
}

static int launch_ex(const CUlaunchConfig *c, const void *kernel, void **args, void **extra)
{
    if (c == NULL) return CUDA_ERROR_INVALID_VALUE;
    const cudaLaunchConfig_t config = config_of(c);
    return launch(&config, kernel, args, extra);
}

/* ---- occupancy ------------------------------------------------------------------------------- */

/* The largest of the block sizes that put most threads on a multiprocessor, searched as CUDA's
 * headers do. */
static int best_block(int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of,
                      size_t shared, int limit)
{
    int device = cudart_device()->number, sms, warp, best = 0;
    struct cudaFuncAttributes a;
    if (grid == NULL || block == NULL) return CUDA_ERROR_INVALID_VALUE;
    cudaError_t error = cudaFuncGetAttributes(&a, f);
    if (error != cudaSuccess) return error;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
    if (limit <= 0 || limit > a.maxThreadsPerBlock) limit = a.maxThreadsPerBlock;
    *grid = *block = 0;
    for (int next = (limit + warp - 1) / warp * warp; next > 0; next -= warp) {
        int threads = next < limit ? next : limit, blocks;
        if (shared_of != NULL) shared = shared_of(threads);
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, threads, shared);
        if (error != cudaSuccess) return error;
        if (threads * blocks <= best) continue;
        best = threads * blocks;
        *grid = blocks * sms;
        *block = threads;
    }
    return CUDA_SUCCESS;
}

static int clusters(int *number, CUfunction f, const CUlaunchConfig *c,
                    cudaError_t (*ask)(int *, const void *, const cudaLaunchConfig_t *))
{
    if (c == NULL) return CUDA_ERROR_INVALID_VALUE;
    const cudaLaunchConfig_t config = config_of(c);
    return ask(number, f, &config);
}

#define SHAPE                                                                                      \
    unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
        CUstream s
#define CONFIG(...) (&(CUlaunchConfig){gx, gy, gz, bx, by, bz, shared, s, __VA_ARGS__})
#define COOPERATIVE                                                                                \
    (&(CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1})
#define PER_THREAD(work) (cudart_default_is_per_thread = true, work)

/* clang-format off */
DRIVER(cuLaunchKernel, (CUfunction f, SHAPE, void **args, void **extra),
       launch_ex(CONFIG(NULL, 0), f, args, extra))
DRIVER(cuLaunchKernel_ptsz, (CUfunction f, SHAPE, void **args, void **extra),
       PER_THREAD(launch_ex(CONFIG(NULL, 0), f, args, extra)))
DRIVER(cuLaunchKernelEx, (const CUlaunchConfig *c, CUfunction f, void **args, void **extra),
       launch_ex(c, f, args, extra))
DRIVER(cuLaunchKernelEx_ptsz, (const CUlaunchConfig *c, CUfunction f, void **args, void **extra),
       PER_THREAD(launch_ex(c, f, args, extra)))
DRIVER(cuLaunchCooperativeKernel, (CUfunction f, SHAPE, void **args),
       launch_ex(CONFIG(COOPERATIVE, 1), f, args, NULL))
DRIVER(cuLaunchCooperativeKernel_ptsz, (CUfunction f, SHAPE, void **args),
       PER_THREAD(launch_ex(CONFIG(COOPERATIVE, 1), f, args, NULL)))

DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, CUfunction f, int threads,
        size_t shared),
       cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared))
DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *blocks, CUfunction f,
        int threads, size_t shared, unsigned flags),
       cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, shared, flags))
DRIVER(cuOccupancyMaxPotentialBlockSize, (int *grid, int *block, CUfunction f,
        CUoccupancyB2DSize shared_of, size_t shared, int limit),
       best_block(grid, block, f, shared_of, shared, limit))
DRIVER(cuOccupancyMaxPotentialBlockSizeWithFlags, (int *grid, int *block, CUfunction f,
        CUoccupancyB2DSize shared_of, size_t shared, int limit, unsigned flags),
       ((void)flags, best_block(grid, block, f, shared_of, shared, limit)))
DRIVER(cuOccupancyAvailableDynamicSMemPerBlock, (size_t *bytes, CUfunction f, int blocks,
        int threads),
       cudaOccupancyAvailableDynamicSMemPerBlock(bytes, f, blocks, threads))
DRIVER(cuOccupancyMaxActiveClusters, (int *number, CUfunction f, const CUlaunchConfig *c),
       clusters(number, f, c, cudaOccupancyMaxActiveClusters))
DRIVER(cuOccupancyMaxPotentialClusterSize, (int *size, CUfunction f, const CUlaunchConfig *c),
       clusters(size, f, c, cudaOccupancyMaxPotentialClusterSize))
/* clang-format on */

/* ---- streams, events, and graphs as far as streams are captured into them -------------------- */

static int get_context(CUstream stream, CUcontext *handle)
{
    const struct object *object = cudart_stream_object(stream);
    if (handle == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (!cudart_is_stream(stream)) return CUDA_ERROR_INVALID_HANDLE;
    bool has_own = object != NULL && object->context != NULL;
    *handle = (CUcontext)(has_own ? object->context : cudart_current_context());
    return CUDA_SUCCESS;
}

/* Callbacks of both APIs have the same calling convention: both error types are passed as an int,
 * and CUDA_SUCCESS is cudaSuccess. */
static cudaStreamCallback_t callback(CUstreamCallback call)
{
    return (cudaStreamCallback_t)(void (*)(void))call;
}

static int destroy_event(CUevent event)
{
    return event != NULL ? (int)cudaEventDestroy(event) : CUDA_ERROR_INVALID_HANDLE;
}

static int open_event(CUevent *event, const CUipcEventHandle *handle)
{
    cudaIpcEventHandle_t same;
    _Static_assert(sizeof same == sizeof *handle, "handles are the same bytes");
    memcpy(&same, handle, sizeof same);
    return cudaIpcOpenEventHandle(event, same);
}

_Static_assert(sizeof(CUstreamAttrValue) == sizeof(cudaStreamAttrValue),
               "attributes of both APIs are alike");

#undef cuEventElapsedTime /* the older form does the same */
#undef cuStreamGetCaptureInfo
#define CAPTURE_INFO(name, graph, needs, data, count, ...)                                         \
    DRIVER_PTSZ(name, (CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, ##__VA_ARGS__),  \
                cudaStreamGetCaptureInfo(s, (enum cudaStreamCaptureStatus *)status,                \
                                         (unsigned long long *)id, graph, needs,                   \
                                         (const cudaGraphEdgeData **)data, count))

/* clang-format off */
DRIVER(cuStreamCreate, (CUstream *s, unsigned flags), cudaStreamCreateWithFlags(s, flags))
DRIVER(cuStreamCreateWithPriority, (CUstream *s, unsigned flags, int priority),
       cudaStreamCreateWithPriority(s, flags, priority))
DRIVER_ANYWHERE(cuStreamDestroy, (CUstream s), cudaStreamDestroy(s))
DRIVER_PTSZ(cuStreamSynchronize, (CUstream s), cudaStreamSynchronize(s))
DRIVER_PTSZ(cuStreamQuery, (CUstream s), cudaStreamQuery(s))
DRIVER_PTSZ(cuStreamWaitEvent, (CUstream s, CUevent e, unsigned flags),
            cudaStreamWaitEvent(s, e, flags))
DRIVER_PTSZ(cuStreamGetFlags, (CUstream s, unsigned *flags), cudaStreamGetFlags(s, flags))
DRIVER_PTSZ(cuStreamGetPriority, (CUstream s, int *priority), cudaStreamGetPriority(s, priority))
DRIVER_PTSZ(cuStreamGetId, (CUstream s, unsigned long long *id), cudaStreamGetId(s, id))
DRIVER_PTSZ(cuStreamGetDevice, (CUstream s, CUdevice *device), cudaStreamGetDevice(s, device))
DRIVER_PTSZ(cuStreamGetAttribute, (CUstream s, CUstreamAttrID id, CUstreamAttrValue *value),
            cudaStreamGetAttribute(s, (cudaStreamAttrID)id, (cudaStreamAttrValue *)value))
DRIVER_PTSZ(cuStreamSetAttribute, (CUstream s, CUstreamAttrID id, const CUstreamAttrValue *value),
            cudaStreamSetAttribute(s, (cudaStreamAttrID)id, (const cudaStreamAttrValue *)value))
DRIVER_PTSZ(cuStreamCopyAttributes, (CUstream to, CUstream from),
            cudaStreamCopyAttributes(to, from))
DRIVER_PTSZ(cuStreamAddCallback, (CUstream s, CUstreamCallback call, void *data, unsigned flags),
            cudaStreamAddCallback(s, callback(call), data, flags))
DRIVER_PTSZ(cuStreamAttachMemAsync, (CUstream s, CUdeviceptr p, size_t bytes, unsigned flags),
            cudaStreamAttachMemAsync(s, at(p), bytes, flags))
DRIVER_PTSZ(cuLaunchHostFunc, (CUstream s, CUhostFn call, void *data),
            cudaLaunchHostFunc(s, call, data))
#undef cuStreamGetCtx
DRIVER_PTSZ(cuStreamGetCtx, (CUstream s, CUcontext *c), get_context(s, c))

DRIVER(cuEventCreate, (CUevent *e, unsigned flags), cudaEventCreateWithFlags(e, flags))
DRIVER_PTSZ(cuEventRecord, (CUevent e, CUstream s), cudaEventRecord(e, s))
DRIVER_PTSZ(cuEventRecordWithFlags, (CUevent e, CUstream s, unsigned flags),
            cudaEventRecordWithFlags(e, s, flags))
DRIVER(cuEventQuery, (CUevent e), cudaEventQuery(e))
DRIVER(cuIpcGetEventHandle, (CUipcEventHandle *handle, CUevent e),
       cudaIpcGetEventHandle((cudaIpcEventHandle_t *)handle, e))
DRIVER(cuIpcOpenEventHandle, (CUevent *e, CUipcEventHandle handle), open_event(e, &handle))
DRIVER(cuEventSynchronize, (CUevent e), cudaEventSynchronize(e))
DRIVER_ANYWHERE(cuEventDestroy, (CUevent e), destroy_event(e))
DRIVER(cuEventElapsedTime, (float *ms, CUevent from, CUevent to),
       cudaEventElapsedTime(ms, from, to))
DRIVER(cuEventElapsedTime_v2, (float *ms, CUevent from, CUevent to),
       cudaEventElapsedTime(ms, from, to))

DRIVER_PTSZ(cuStreamBeginCapture, (CUstream s, CUstreamCaptureMode mode),
            cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)mode))
DRIVER_PTSZ(cuStreamEndCapture, (CUstream s, CUgraph *graph), cudaStreamEndCapture(s, graph))
DRIVER_PTSZ(cuStreamIsCapturing, (CUstream s, CUstreamCaptureStatus *status),
            cudaStreamIsCapturing(s, (enum cudaStreamCaptureStatus *)status))
CAPTURE_INFO(cuStreamGetCaptureInfo, NULL, NULL, NULL, NULL)
CAPTURE_INFO(cuStreamGetCaptureInfo_v2, graph, needs, NULL, count,
             CUgraph *graph, const CUgraphNode **needs, size_t *count)
CAPTURE_INFO(cuStreamGetCaptureInfo_v3, graph, needs, data, count, CUgraph *graph,
             const CUgraphNode **needs, const CUgraphEdgeData **data, size_t *count)
DRIVER_ANYWHERE(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *mode),
                cudaThreadExchangeStreamCaptureMode((enum cudaStreamCaptureMode *)mode))
DRIVER(cuGraphInstantiate, (CUgraphExec *run, CUgraph graph, unsigned long long flags),
       cudaGraphInstantiateWithFlags(run, graph, flags))
DRIVER_PTSZ(cuGraphUpload, (CUgraphExec run, CUstream s), cudaGraphUpload(run, s))
DRIVER_PTSZ(cuGraphLaunch, (CUgraphExec run, CUstream s), cudaGraphLaunch(run, s))
DRIVER_ANYWHERE(cuGraphExecDestroy, (CUgraphExec run), cudaGraphExecDestroy(run))
DRIVER_ANYWHERE(cuGraphDestroy, (CUgraph graph), cudaGraphDestroy(graph))
/* clang-format on */
