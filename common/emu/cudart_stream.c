/*
 * cudart_stream.c — streams and events.
 *
 * Work is done when it is put into a stream, so a stream is never busy and an event is always past.
 * An event holds the host's clock: cudaEventElapsedTime is the time that the emulator took.
 */
#define _GNU_SOURCE /* clock_gettime */
#include "cudart.h"

#include <stdlib.h>
#include <time.h>

/* A stream or an event, told apart by `kind`, in one list so that a stale handle is noticed. */
struct object {
    enum { STREAM, EVENT } kind;
    unsigned flags;
    int priority;
    int device;            /* the one that was current */
    unsigned long long id; /* of a stream */
    bool recorded;         /* of an event */
    struct timespec at;    /* when */
    struct object *next;
};

/* ncu shows the default stream as 7 and the first that a program creates as 13. */
enum { DEFAULT_STREAM_ID = 7, FIRST_STREAM_ID = 13 };

/* Priorities go from 0, the lowest, to this (as on a GPU of compute capability 7.0 or above). */
enum { HIGHEST_PRIORITY = -5 };

static struct object *objects;
static unsigned long long next_stream_id = FIRST_STREAM_ID;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of both */

static cudaError_t create(void *handle, int kind, unsigned flags, int priority)
{
    if (handle == NULL) return cudaErrorInvalidValue;
    struct object *object = malloc(sizeof *object);
    if (object == NULL) return cudaErrorMemoryAllocation;
    *object = (struct object){
        .kind = kind, .flags = flags, .priority = priority, .device = cudart_device()->number};
    pthread_mutex_lock(&mutex);
    if (kind == STREAM) object->id = next_stream_id++;
    object->next = objects;
    objects = object;
    pthread_mutex_unlock(&mutex);
    *(struct object **)handle = object;
    return cudaSuccess;
}

/* The object of a handle; NULL if it is none that lives. */
static struct object *find(const void *handle, int kind)
{
    pthread_mutex_lock(&mutex);
    struct object *object = objects;
    while (object != NULL && object != handle) object = object->next;
    pthread_mutex_unlock(&mutex);
    return object != NULL && (int)object->kind == kind ? object : NULL;
}

static cudaError_t destroy(const void *handle, int kind)
{
    if (find(handle, kind) == NULL) return cudaErrorInvalidResourceHandle;
    pthread_mutex_lock(&mutex);
    struct object **link = &objects;
    while (*link != handle) link = &(*link)->next;
    struct object *object = *link;
    *link = object->next;
    pthread_mutex_unlock(&mutex);
    free(object);
    return cudaSuccess;
}

void cudart_drop_streams(void)
{
    int device = cudart_device()->number;
    pthread_mutex_lock(&mutex);
    for (struct object **link = &objects; *link != NULL;) {
        struct object *object = *link;
        if (object->device != device) {
            link = &object->next;
            continue;
        }
        *link = object->next;
        free(object);
    }
    pthread_mutex_unlock(&mutex);
}

static bool is_default_stream(cudaStream_t stream)
{
    return stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

bool cudart_is_stream(cudaStream_t stream)
{
    return is_default_stream(stream) || find(stream, STREAM) != NULL;
}

int cudart_stream_device(cudaStream_t stream)
{
    const struct object *object = is_default_stream(stream) ? NULL : find(stream, STREAM);
    return object != NULL ? object->device : cudart_device()->number;
}

unsigned long long cudart_stream_id(cudaStream_t stream)
{
    const struct object *object = is_default_stream(stream) ? NULL : find(stream, STREAM);
    return object != NULL ? object->id : DEFAULT_STREAM_ID;
}

/* ---- streams --------------------------------------------------------------------------------- */

cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags,
                                                   int priority)
{
    RETURN_IF_FAULTY();
    if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)
        return cudart_done(cudaErrorInvalidValue);
    if (priority > 0) priority = 0;
    if (priority < HIGHEST_PRIORITY) priority = HIGHEST_PRIORITY;
    return cudart_done(create(stream, STREAM, flags, priority));
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
    return cudart_done(destroy(stream, STREAM));
}

/* What waiting and asking have in common: is it a stream, and has nothing gone wrong in it? */
static cudaError_t check_stream(cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    return cudart_done(cudart_is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t stream) { return check_stream(stream); }

cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream) { return check_stream(stream); }

cudaError_t CUDARTAPI cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    RETURN_IF_FAULTY();
    const struct object *object = is_default_stream(stream) ? NULL : find(stream, STREAM);
    if (flags == NULL) return cudart_done(cudaErrorInvalidValue);
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    *flags = object != NULL ? object->flags : cudaStreamDefault;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    RETURN_IF_FAULTY();
    const struct object *object = is_default_stream(stream) ? NULL : find(stream, STREAM);
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

cudaError_t CUDARTAPI cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t call,
                                            void *data, unsigned flags)
{
    RETURN_IF_FAULTY();
    if (call == NULL || flags != 0) return cudart_done(cudaErrorInvalidValue);
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    call(stream, cudaSuccess, data);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetStreamPriorityRange(int *lowest, int *highest)
{
    RETURN_IF_FAULTY();
    if (lowest != NULL) *lowest = 0;
    if (highest != NULL) *highest = HIGHEST_PRIORITY;
    return cudaSuccess;
}

/* ---- events ---------------------------------------------------------------------------------- */

cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    RETURN_IF_FAULTY();
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (flags & ~known) return cudart_done(cudaErrorInvalidValue);
    return cudart_done(create(event, EVENT, flags, 0));
}

cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event)
{
    RETURN_IF_FAULTY();
    return cudart_done(destroy(event, EVENT));
}

cudaError_t CUDARTAPI cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                               unsigned flags)
{
    struct object *object = find(event, EVENT);
    if (object == NULL || !cudart_is_stream(stream) ||
        object->device != cudart_stream_device(stream))
        return cudart_done(cudaErrorInvalidResourceHandle);
    if (flags != cudaEventRecordDefault && flags != cudaEventRecordExternal)
        return cudart_done(cudaErrorInvalidValue);
    object->recorded = true;
    clock_gettime(CLOCK_MONOTONIC, &object->at);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

static cudaError_t check_event(cudaEvent_t event)
{
    RETURN_IF_FAULTY();
    bool known = find(event, EVENT) != NULL;
    return cudart_done(known ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t event) { return check_event(event); }

cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) { return check_event(event); }

cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    RETURN_IF_FAULTY();
    if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal)
        return cudart_done(cudaErrorInvalidValue);
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    return check_event(event);
}

cudaError_t CUDARTAPI cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    RETURN_IF_FAULTY();
    if (milliseconds == NULL) return cudart_done(cudaErrorInvalidValue);
    const struct object *from = find(start, EVENT), *to = find(end, EVENT);
    if (from == NULL || to == NULL || !from->recorded || !to->recorded ||
        from->device != to->device || (from->flags | to->flags) & cudaEventDisableTiming)
        return cudart_done(cudaErrorInvalidResourceHandle);
    double seconds = (double)(to->at.tv_sec - from->at.tv_sec);
    double nanoseconds = (double)(to->at.tv_nsec - from->at.tv_nsec);
    *milliseconds = (float)(seconds * 1e3 + nanoseconds * 1e-6);
    return cudaSuccess;
}

ALSO_PTSZ(cudaStreamSynchronize);
ALSO_PTSZ(cudaStreamQuery);
ALSO_PTSZ(cudaStreamGetFlags);
ALSO_PTSZ(cudaStreamGetPriority);
ALSO_PTSZ(cudaStreamGetId);
ALSO_PTSZ(cudaStreamGetDevice);
ALSO_PTSZ(cudaStreamAddCallback);
ALSO_PTSZ(cudaStreamWaitEvent);
ALSO_PTSZ(cudaEventRecord);
ALSO_PTSZ(cudaEventRecordWithFlags);
