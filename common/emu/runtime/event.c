/*
 * event.c — events.
 *
 * All earlier work is done when an event is recorded. The event keeps the host's clock, so
 * cudaEventElapsedTime is the time that the emulator took.
 */
#define _GNU_SOURCE /* clock_gettime */
#include "capture.h"
#include "ipc_event.h"
#include "object.h"
#include "order.h"
#include "work.h"

cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    RETURN_IF_FAULTY();
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    bool is_shared = flags & cudaEventInterprocess;
    if (flags & ~known || (is_shared && !(flags & cudaEventDisableTiming)))
        return cudart_done(cudaErrorInvalidValue);
    return cudart_done(cudart_create(event, EVENT, flags, 0));
}

cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event)
{
    RETURN_IF_FAULTY();
    return cudart_done(cudart_destroy(event, EVENT));
}

void cudart_record_event(cudaEvent_t event)
{
    struct object *object = cudart_find(event, EVENT);
    if (object == NULL) return; /* destroyed after the graph was made */
    object->recorded = true;
    clock_gettime(CLOCK_MONOTONIC, &object->at);
}

/* In a stream that is captured, an event marks a place in the graph. An event recorded as external
 * is a node of the graph, which records the time whenever the graph runs. */
cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                               unsigned flags)
{
    struct object *object = cudart_find(event, EVENT);
    if (object == NULL || !cudart_is_stream(stream) ||
        object->device != cudart_stream_device(stream))
        return cudart_done(cudaErrorInvalidResourceHandle);
    if (flags != cudaEventRecordDefault && flags != cudaEventRecordExternal)
        return cudart_done(cudaErrorInvalidValue);
    bool captured;
    if (flags == cudaEventRecordExternal) {
        struct work work = {.type = cudaGraphNodeTypeEventRecord, .event = event};
        if (!cudart_is_capturing(stream)) return cudart_done(cudaErrorIllegalState);
        return cudart_submit(stream, &work);
    }
    cudaError_t error = cudart_capture_record(object, stream, &captured);
    if (error == cudaSuccess && !captured) {
        cudart_record_event(event);
        object->is_behind = cudart_is_behind(stream);
        cudart_ipc_record(object);
        cudart_order_record(object, stream);
    }
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

static cudaError_t check_event(cudaEvent_t event, bool waits)
{
    struct object *object = cudart_find(event, EVENT);
    if (object != NULL && object->is_behind) object->is_behind = !cudart_go_on(waits);
    RETURN_IF_FAULTY();
    if (object == NULL) return cudart_done(cudaErrorInvalidResourceHandle);
    cudaError_t error = cudart_check_event_wait(object);
    if (error == cudaSuccess && object->is_behind) return cudaErrorNotReady;
    if (error == cudaSuccess && !cudart_ipc_is_done(object, waits)) return cudaErrorNotReady;
    if (error == cudaSuccess) cudart_order_wait_host(object);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) { return check_event(event, true); }

cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) { return check_event(event, false); }

cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    RETURN_IF_FAULTY();
    struct object *object = cudart_find(event, EVENT);
    if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal)
        return cudart_done(cudaErrorInvalidValue);
    if (!cudart_is_stream(stream) || object == NULL)
        return cudart_done(cudaErrorInvalidResourceHandle);
    bool captured;
    if (flags == cudaEventWaitExternal) {
        struct work work = {.type = cudaGraphNodeTypeWaitEvent, .event = event};
        if (!cudart_is_capturing(stream)) return cudart_done(cudaErrorIllegalState);
        return cudart_submit(stream, &work);
    }
    if (object->is_behind) cudart_hold_streams();
    cudaError_t error = cudart_capture_wait(stream, object, &captured);
    if (error == cudaSuccess && !captured) cudart_ipc_is_done(object, true);
    if (error == cudaSuccess && !captured) cudart_order_wait_event(stream, object);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    RETURN_IF_FAULTY();
    if (milliseconds == NULL) return cudart_done(cudaErrorInvalidValue);
    const struct object *from = cudart_find(start, EVENT), *to = cudart_find(end, EVENT);
    if (from == NULL || to == NULL || !from->recorded || !to->recorded ||
        from->device != to->device || (from->flags | to->flags) & cudaEventDisableTiming)
        return cudart_done(cudaErrorInvalidResourceHandle);
    cudart_order_wait_host(from);
    cudart_order_wait_host(to);
    double seconds = (double)(to->at.tv_sec - from->at.tv_sec);
    double nanoseconds = (double)(to->at.tv_nsec - from->at.tv_nsec);
    *milliseconds = (float)(seconds * 1e3 + nanoseconds * 1e-6);
    return cudaSuccess;
}

ALSO_PTSZ(cudaEventRecord);
ALSO_PTSZ(cudaEventRecordWithFlags);
ALSO_PTSZ(cudaStreamWaitEvent);
