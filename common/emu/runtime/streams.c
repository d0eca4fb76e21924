/*
 * streams.c — streams.
 *
 * Work is done when it is submitted, so a stream is never busy. Waiting for a stream only returns
 * whether an error has occurred.
 */
#include "capture.h"
#include "object.h"
#include "order.h"
#include "work.h"

/* Priorities go from 0, the lowest, to this (as on a GPU of compute capability 7.0 or above). */
enum { HIGHEST_PRIORITY = -5 };

cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags,
                                                   int priority)
{
    RETURN_IF_FAULTY();
    if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)
        return cudart_done(cudaErrorInvalidValue);
    if (priority > 0) priority = 0;
    if (priority < HIGHEST_PRIORITY) priority = HIGHEST_PRIORITY;
    return cudart_done(cudart_create(stream, STREAM, flags, priority));
}

cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    int device = cudart_stream_device(stream);
    cudart_work_begins(device); /* a reset in another thread must not free the stream meanwhile */
    struct object *object = cudart_find(stream, STREAM);
    if (object != NULL) cudart_capture_forget(object);
    cudaError_t error = cudart_destroy(stream, STREAM);
    cudart_work_ends(device);
    return cudart_done(error);
}

/* For waiting and querying: an error if it is not a stream, or if an error has occurred in it. */
static cudaError_t check_stream(cudaStream_t stream, bool waits)
{
    bool is_done = cudart_go_on_for(stream, waits);
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    cudaError_t error = cudart_check_wait(stream);
    if (error == cudaSuccess && !is_done) return cudaErrorNotReady;
    if (error == cudaSuccess) cudart_order_wait_stream(stream);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream)
{
    return check_stream(stream, true);
}

cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream) { return check_stream(stream, false); }

/* ---- properties of a stream
 * ------------------------------------------------------------------------ */

cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    RETURN_IF_FAULTY();
    const struct object *object = cudart_stream_object(stream);
    if (flags == NULL) return cudart_done(cudaErrorInvalidValue);
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    *flags = object != NULL ? object->flags : cudaStreamDefault;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    RETURN_IF_FAULTY();
    const struct object *object = cudart_stream_object(stream);
    if (priority == NULL) return cudart_done(cudaErrorInvalidValue);
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    *priority = object != NULL ? object->priority : 0;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    RETURN_IF_FAULTY();
    if (id == NULL) return cudart_done(cudaErrorInvalidValue);
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    *id = cudart_stream_id(stream);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    RETURN_IF_FAULTY();
    if (device == NULL) return cudart_done(cudaErrorInvalidValue);
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    *device = cudart_stream_device(stream);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int *lowest, int *highest)
{
    RETURN_IF_FAULTY();
    if (lowest != NULL) *lowest = 0;
    if (highest != NULL) *highest = HIGHEST_PRIORITY;
    return cudaSuccess;
}

/* ---- attributes, which only affect speed: kept without effect
 * ------------------------------------------- */

/* The place of a stream's attribute; NULL: streams do not have this attribute. */
static cudaStreamAttrValue *attribute_of(cudaStream_t stream, cudaStreamAttrID id)
{
    static cudaStreamAttrValue legacy[STREAM_ATTRIBUTES];
    struct object *object = cudart_stream_object(stream);
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
        return object != NULL ? &object->attributes[id] : &legacy[id];
    default: return NULL;
    }
}

cudaError_t CUDARTAPI cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                             const cudaStreamAttrValue *value)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    cudaStreamAttrValue *place = attribute_of(stream, id);
    if (place == NULL || value == NULL) return cudart_done(cudaErrorInvalidValue);
    *place = *value;
    if (id == cudaLaunchAttributePriority && cudart_stream_object(stream) != NULL)
        cudart_stream_object(stream)->priority = value->priority;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                                             cudaStreamAttrValue *value)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    const cudaStreamAttrValue *place = attribute_of(stream, id);
    if (place == NULL || value == NULL) return cudart_done(cudaErrorInvalidValue);
    *value = *place;
    if (id == cudaLaunchAttributePriority && cudart_stream_object(stream) != NULL)
        value->priority = cudart_stream_object(stream)->priority;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(to) || !cudart_is_stream(from))
        return cudart_done(cudaErrorInvalidResourceHandle);
    for (int id = 0; id < STREAM_ATTRIBUTES; id++) {
        cudaStreamAttrValue *target = attribute_of(to, (cudaStreamAttrID)id);
        if (target != NULL) *target = *attribute_of(from, (cudaStreamAttrID)id);
    }
    return cudaSuccess;
}

/* ---- functions of the host, called when the work before them is done: at once ---------------- */

cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void *data)
{
    RETURN_IF_FAULTY();
    if (call == NULL) return cudart_done(cudaErrorInvalidValue);
    struct work work = {.type = cudaGraphNodeTypeHost, .host = {call, data}};
    return cudart_submit(stream, &work);
}

struct callback {
    cudaStream_t stream;
    cudaStreamCallback_t call;
    void *data;
};

static void call_back(void *context)
{
    const struct callback *callback = context;
    callback->call(callback->stream, cudaSuccess, callback->data);
}

/* The older function, whose callbacks cannot be captured. */
cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t call,
                                            void *data, unsigned flags)
{
    RETURN_IF_FAULTY();
    struct callback callback = {stream, call, data};
    if (call == NULL || flags != 0) return cudart_done(cudaErrorInvalidValue);
    if (cudart_is_capturing(stream)) return cudart_done(cudart_check_wait(stream));
    return cudaLaunchHostFunc(stream, call_back, &callback);
}

ALSO_PTSZ(cudaStreamSynchronize);
ALSO_PTSZ(cudaStreamQuery);
ALSO_PTSZ(cudaStreamGetFlags);
ALSO_PTSZ(cudaStreamGetPriority);
ALSO_PTSZ(cudaStreamGetId);
ALSO_PTSZ(cudaStreamGetDevice);
ALSO_PTSZ(cudaStreamSetAttribute);
ALSO_PTSZ(cudaStreamGetAttribute);
ALSO_PTSZ(cudaStreamCopyAttributes);
ALSO_PTSZ(cudaStreamAddCallback);
ALSO_PTSZ(cudaLaunchHostFunc);
