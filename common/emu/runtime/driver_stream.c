/* driver_stream.c — streams, events, and graphs as far as streams are captured into them. */
#include "driver.h"
#include "object.h"

#include <string.h>

static int get_context(CUstream stream, CUcontext *handle)
{
    const struct object *object = cudart_stream_object(stream);
    if (handle == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    if (!cudart_is_stream(stream)) return driver_failed(CUDA_ERROR_INVALID_HANDLE);
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
    return event != NULL ? (int)cudaEventDestroy(event) : driver_failed(CUDA_ERROR_INVALID_HANDLE);
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
    DRIVER(name, (CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id, ##__VA_ARGS__),       \
           cudaStreamGetCaptureInfo(s, (enum cudaStreamCaptureStatus *)status,                     \
                                    (unsigned long long *)id, graph, needs,                        \
                                    (const cudaGraphEdgeData **)data, count))                      \
    DRIVER_PTSZ(name);

/* clang-format off */
DRIVER(cuStreamCreate, (CUstream *s, unsigned flags), cudaStreamCreateWithFlags(s, flags))
DRIVER(cuStreamCreateWithPriority, (CUstream *s, unsigned flags, int priority),
       cudaStreamCreateWithPriority(s, flags, priority))
DRIVER_ANYWHERE(cuStreamDestroy, (CUstream s), cudaStreamDestroy(s))
DRIVER(cuStreamSynchronize, (CUstream s), cudaStreamSynchronize(s))
DRIVER(cuStreamQuery, (CUstream s), cudaStreamQuery(s))
DRIVER(cuStreamWaitEvent, (CUstream s, CUevent e, unsigned flags), cudaStreamWaitEvent(s, e, flags))
DRIVER(cuStreamGetFlags, (CUstream s, unsigned *flags), cudaStreamGetFlags(s, flags))
DRIVER(cuStreamGetPriority, (CUstream s, int *priority), cudaStreamGetPriority(s, priority))
DRIVER(cuStreamGetId, (CUstream s, unsigned long long *id), cudaStreamGetId(s, id))
DRIVER(cuStreamGetDevice, (CUstream s, CUdevice *device), cudaStreamGetDevice(s, device))
DRIVER(cuStreamGetAttribute, (CUstream s, CUstreamAttrID id, CUstreamAttrValue *value),
       cudaStreamGetAttribute(s, (cudaStreamAttrID)id, (cudaStreamAttrValue *)value))
DRIVER(cuStreamSetAttribute, (CUstream s, CUstreamAttrID id, const CUstreamAttrValue *value),
       cudaStreamSetAttribute(s, (cudaStreamAttrID)id, (const cudaStreamAttrValue *)value))
DRIVER(cuStreamCopyAttributes, (CUstream to, CUstream from), cudaStreamCopyAttributes(to, from))
DRIVER(cuStreamAddCallback, (CUstream s, CUstreamCallback call, void *data, unsigned flags),
       cudaStreamAddCallback(s, callback(call), data, flags))
DRIVER(cuStreamAttachMemAsync, (CUstream s, CUdeviceptr p, size_t bytes, unsigned flags),
       cudaStreamAttachMemAsync(s, at(p), bytes, flags))
DRIVER(cuLaunchHostFunc, (CUstream s, CUhostFn call, void *data), cudaLaunchHostFunc(s, call, data))
#undef cuStreamGetCtx
DRIVER(cuStreamGetCtx, (CUstream s, CUcontext *c), get_context(s, c))

DRIVER(cuEventCreate, (CUevent *e, unsigned flags), cudaEventCreateWithFlags(e, flags))
DRIVER(cuEventRecord, (CUevent e, CUstream s), cudaEventRecord(e, s))
DRIVER(cuEventRecordWithFlags, (CUevent e, CUstream s, unsigned flags),
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

DRIVER(cuStreamBeginCapture, (CUstream s, CUstreamCaptureMode mode),
       cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)mode))
DRIVER(cuStreamEndCapture, (CUstream s, CUgraph *graph), cudaStreamEndCapture(s, graph))
DRIVER(cuStreamIsCapturing, (CUstream s, CUstreamCaptureStatus *status),
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
DRIVER(cuGraphUpload, (CUgraphExec run, CUstream s), cudaGraphUpload(run, s))
DRIVER(cuGraphLaunch, (CUgraphExec run, CUstream s), cudaGraphLaunch(run, s))
DRIVER_ANYWHERE(cuGraphExecDestroy, (CUgraphExec run), cudaGraphExecDestroy(run))
DRIVER_ANYWHERE(cuGraphDestroy, (CUgraph graph), cudaGraphDestroy(graph))
/* clang-format on */

DRIVER_PTSZ(cuStreamSynchronize);
DRIVER_PTSZ(cuStreamQuery);
DRIVER_PTSZ(cuStreamWaitEvent);
DRIVER_PTSZ(cuStreamGetFlags);
DRIVER_PTSZ(cuStreamGetPriority);
DRIVER_PTSZ(cuStreamGetId);
DRIVER_PTSZ(cuStreamGetDevice);
DRIVER_PTSZ(cuStreamGetAttribute);
DRIVER_PTSZ(cuStreamSetAttribute);
DRIVER_PTSZ(cuStreamCopyAttributes);
DRIVER_PTSZ(cuStreamAddCallback);
DRIVER_PTSZ(cuStreamAttachMemAsync);
DRIVER_PTSZ(cuLaunchHostFunc);
DRIVER_PTSZ(cuStreamGetCtx);
DRIVER_PTSZ(cuEventRecord);
DRIVER_PTSZ(cuEventRecordWithFlags);
DRIVER_PTSZ(cuStreamBeginCapture);
DRIVER_PTSZ(cuStreamEndCapture);
DRIVER_PTSZ(cuStreamIsCapturing);
DRIVER_PTSZ(cuGraphUpload);
DRIVER_PTSZ(cuGraphLaunch);
