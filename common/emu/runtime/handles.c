/*
 * handles.c — the table of streams and events.
 */
#include "object.h"

#include <stdlib.h>

/* ncu shows the default stream as 7 and the first that a program creates as 13. */
enum { DEFAULT_STREAM_ID = 7, FIRST_STREAM_ID = 13 };

static struct address_table objects; /* by handle */
static unsigned long long next_stream_id = FIRST_STREAM_ID;
static pthread_mutex_t object_mutex = PTHREAD_MUTEX_INITIALIZER; /* protects both */

cudaError_t cudart_create(void *handle, enum object_kind kind, unsigned flags, int priority)
{
    if (handle == NULL) return cudaErrorInvalidValue;
    struct object *object = calloc(1, sizeof *object);
    if (object == NULL) return cudaErrorMemoryAllocation;
    object->kind = kind;
    object->flags = flags;
    object->priority = priority;
    object->device = cudart_device()->number;
    object->context = cudart_owning_context(object->device);
    pthread_mutex_lock(&object_mutex);
    bool added = address_table_set(&objects, (uint64_t)object, object);
    if (added && kind == STREAM) object->id = next_stream_id++;
    pthread_mutex_unlock(&object_mutex);
    if (!added) {
        free(object);
        return cudaErrorMemoryAllocation;
    }
    *(struct object **)handle = object;
    return cudaSuccess;
}

/* The mutex is held. */
static struct object *find(const void *handle, enum object_kind kind)
{
    struct object *object = address_table_find(&objects, (uint64_t)handle);
    return object != NULL && object->kind == kind ? object : NULL;
}

struct object *cudart_find(const void *handle, enum object_kind kind)
{
    pthread_mutex_lock(&object_mutex);
    struct object *object = find(handle, kind);
    pthread_mutex_unlock(&object_mutex);
    return object;
}

/* Gives the memory back in which an event's word is. */
static void close_word(const struct object *event)
{
    struct emu *emu = cudart_device_at(event->device)->emu;
    if (event->shared == 0) return;
    if (event->is_imported) {
        emu_close_import(emu, event->shared);
        return;
    }
    emu_hide(emu, event->shared, false);
    emu_free(emu, event->shared);
}

/* Removes and frees an object. The mutex is held. */
static void take_out(struct object *object)
{
    address_table_remove(&objects, (uint64_t)object);
    cudart_empty(&object->tail);
    close_word(object);
    free(object);
}

cudaError_t cudart_destroy(const void *handle, enum object_kind kind)
{
    pthread_mutex_lock(&object_mutex);
    struct object *object = find(handle, kind);
    bool found = object != NULL;
    if (found) take_out(object);
    pthread_mutex_unlock(&object_mutex);
    return found ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

void cudart_each(enum object_kind kind, void (*visit)(struct object *))
{
    pthread_mutex_lock(&object_mutex);
    for (size_t i = 0; i < objects.size; i++) {
        struct object *object = objects.entries[i].kept;
        if (object != NULL && object->kind == kind) visit(object);
    }
    pthread_mutex_unlock(&object_mutex);
}

void cudart_drop_streams(const struct context *context)
{
    pthread_mutex_lock(&object_mutex);
    for (size_t i = 0; i < objects.size;) {
        struct object *object = objects.entries[i].kept;
        if (object != NULL && object->context == context)
            take_out(object); /* another entry may move to i */
        else
            i++;
    }
    pthread_mutex_unlock(&object_mutex);
}

/* ---- what a stream's handle means ------------------------------------------------------------ */

/* Each host thread has one, which belongs to the thread's current device. */
struct object *cudart_per_thread_stream(void)
{
    static _Thread_local struct object own = {.kind = STREAM};
    if (own.id == 0) {
        pthread_mutex_lock(&object_mutex);
        own.id = next_stream_id++;
        pthread_mutex_unlock(&object_mutex);
    }
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
    int device = cudart_device()->number;
    if (cudart_is_legacy(stream)) return device;
    if (stream == NULL || stream == cudaStreamPerThread) return cudart_per_thread_stream()->device;
    pthread_mutex_lock(&object_mutex); /* a reset in another thread may free the stream */
    const struct object *object = find(stream, STREAM);
    if (object != NULL) device = object->device;
    pthread_mutex_unlock(&object_mutex);
    return device;
}

unsigned long long cudart_stream_id(cudaStream_t stream)
{
    const struct object *object = cudart_stream_object(stream);
    return object != NULL ? object->id : DEFAULT_STREAM_ID;
}
