/*
 * cudart_object.c — the list of streams and events.
 */
#include "cudart_object.h"

#include <stdlib.h>

/* ncu shows the default stream as 7 and the first that a program creates as 13. */
enum { DEFAULT_STREAM_ID = 7, FIRST_STREAM_ID = 13 };

static struct object *objects;
static unsigned long long next_stream_id = FIRST_STREAM_ID;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of both */

cudaError_t cudart_create(void *handle, enum object_kind kind, unsigned flags, int priority)
{
    if (handle == NULL) return cudaErrorInvalidValue;
    struct object *object = calloc(1, sizeof *object);
    if (object == NULL) return cudaErrorMemoryAllocation;
    object->kind = kind;
    object->flags = flags;
    object->priority = priority;
    object->device = cudart_device()->number;
    pthread_mutex_lock(&mutex);
    if (kind == STREAM) object->id = next_stream_id++;
    object->next = objects;
    objects = object;
    pthread_mutex_unlock(&mutex);
    *(struct object **)handle = object;
    return cudaSuccess;
}

struct object *cudart_find(const void *handle, enum object_kind kind)
{
    pthread_mutex_lock(&mutex);
    struct object *object = objects;
    while (object != NULL && object != handle) object = object->next;
    pthread_mutex_unlock(&mutex);
    return object != NULL && object->kind == kind ? object : NULL;
}

static void take_out(struct object **link)
{
    struct object *object = *link;
    *link = object->next;
    free(object->tail.node);
    free(object);
}

cudaError_t cudart_destroy(const void *handle, enum object_kind kind)
{
    if (cudart_find(handle, kind) == NULL) return cudaErrorInvalidResourceHandle;
    pthread_mutex_lock(&mutex);
    struct object **link = &objects;
    while (*link != NULL && *link != handle) link = &(*link)->next;
    if (*link != NULL) take_out(link);
    pthread_mutex_unlock(&mutex);
    return cudaSuccess;
}

void cudart_drop_streams(void)
{
    int device = cudart_device()->number;
    pthread_mutex_lock(&mutex);
    for (struct object **link = &objects; *link != NULL;)
        if ((*link)->device == device)
            take_out(link);
        else
            link = &(*link)->next;
    pthread_mutex_unlock(&mutex);
}

void cudart_each_object(void (*call)(struct object *, void *context), void *context)
{
    call(cudart_per_thread_stream(), context);
    pthread_mutex_lock(&mutex);
    for (struct object *object = objects; object != NULL; object = object->next)
        call(object, context);
    pthread_mutex_unlock(&mutex);
}

/* ---- what a stream's handle means ------------------------------------------------------------ */

/* One a thread, for whichever device is the thread's. Captures of other threads' per-thread streams
 * do not see it, and need not. */
struct object *cudart_per_thread_stream(void)
{
    static _Thread_local struct object own = {.kind = STREAM, .id = DEFAULT_STREAM_ID};
    if (own.capture == 0) own.device = cudart_device()->number;
    return &own;
}

_Thread_local bool cudart_default_is_per_thread;

bool cudart_is_legacy(cudaStream_t stream)
{
    return (stream == NULL && !cudart_default_is_per_thread) || stream == cudaStreamLegacy;
}

struct object *cudart_stream_object(cudaStream_t stream)
{
    if (cudart_is_legacy(stream)) return NULL;
    if (stream == NULL || stream == cudaStreamPerThread) return cudart_per_thread_stream();
    return cudart_find(stream, STREAM);
}

bool cudart_is_stream(cudaStream_t stream)
{
    return cudart_is_legacy(stream) || cudart_stream_object(stream) != NULL;
}

int cudart_stream_device(cudaStream_t stream)
{
    const struct object *object = cudart_stream_object(stream);
    return object != NULL ? object->device : cudart_device()->number;
}

unsigned long long cudart_stream_id(cudaStream_t stream)
{
    const struct object *object = cudart_stream_object(stream);
    return object != NULL ? object->id : DEFAULT_STREAM_ID;
}
