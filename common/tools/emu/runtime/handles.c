/* handles.c — the tables of handles, streams, events and allocations. */
#define _GNU_SOURCE /* posix_memalign */
#include "cudart.h"

/* ---- handles --------------------------------------------------------------------------------- */

void cudart_handles_set(struct handles *handles, const void *handle, void *object)
{
    pthread_mutex_lock(&handles->mutex);
    address_table_set(&handles->table, (uint64_t)handle, object);
    pthread_mutex_unlock(&handles->mutex);
}

void *cudart_handles_find(struct handles *handles, const void *handle)
{
    return LOCKED(handles->mutex, address_table_find(&handles->table, (uint64_t)handle));
}

void *cudart_handles_take(struct handles *handles, const void *handle)
{
    pthread_mutex_lock(&handles->mutex);
    void *object = address_table_find(&handles->table, (uint64_t)handle);
    address_table_remove(&handles->table, (uint64_t)handle);
    pthread_mutex_unlock(&handles->mutex);
    return object;
}

void cudart_handles_each(struct handles *handles, bool (*visit)(void *, const void *),
                         const void *context)
{
    pthread_mutex_lock(&handles->mutex);
    for (size_t i = 0; i < handles->table.size;) {
        const struct address_entry entry = handles->table.entries[i];
        if (entry.kept != NULL && visit(entry.kept, context))
            address_table_remove(&handles->table, entry.address); /* another one may move to i */
        else
            i++;
    }
    pthread_mutex_unlock(&handles->mutex);
}

/* ---- the table of streams and events --------------------------------------------------------- */

/* ncu shows the default stream as 7 and the first that a program creates as 13. */
enum { DEFAULT_STREAM_ID = 7, FIRST_STREAM_ID = 13 };

static struct handles objects = NO_HANDLES;
static atomic_ullong next_stream_id = FIRST_STREAM_ID;

cudaError_t cudart_create(void *handle, enum object_kind kind, unsigned flags, int priority)
{
    if (handle == NULL) return cudaErrorInvalidValue;
    struct object *object = allocated(calloc(1, sizeof *object));
    object->kind = kind;
    object->flags = flags;
    object->priority = priority;
    object->device = cudart_device()->number;
    object->context = cudart_owning_context(object->device);
    if (kind == STREAM) object->id = next_stream_id++;
    cudart_handles_set(&objects, object, object);
    *(struct object **)handle = object;
    return cudaSuccess;
}

struct object *cudart_find(const void *handle, enum object_kind kind)
{
    struct object *object = cudart_handles_find(&objects, handle);
    return object != NULL && object->kind == kind ? object : NULL;
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

static void free_object(struct object *object)
{
    cudart_empty(&object->tail);
    close_word(object);
    free(object);
}

cudaError_t cudart_destroy(const void *handle, enum object_kind kind)
{
    if (cudart_find(handle, kind) == NULL) return cudaErrorInvalidResourceHandle;
    struct object *object = cudart_handles_take(&objects, handle);
    if (object == NULL) return cudaErrorInvalidResourceHandle;
    free_object(object);
    return cudaSuccess;
}

static bool visit_event(void *kept, const void *visit)
{
    struct object *object = kept;
    if (object->kind == EVENT) (*(void (*const *)(struct object *))visit)(object);
    return false;
}

void cudart_each_event(void (*visit)(struct object *))
{
    cudart_handles_each(&objects, visit_event, &visit);
}

static bool drop_object(void *kept, const void *context)
{
    struct object *object = kept;
    bool is_its = object->context == context;
    if (is_its) free_object(object);
    return is_its;
}

void cudart_drop_streams(const struct context *context)
{
    cudart_handles_each(&objects, drop_object, context);
}

/* ---- what a stream's handle means ------------------------------------------------------------ */

/* Each host thread has one, which belongs to the thread's current device. */
struct object *cudart_per_thread_stream(void)
{
    static _Thread_local struct object own = {.kind = STREAM};
    if (own.id == 0) own.id = next_stream_id++;
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
    pthread_mutex_lock(&objects.mutex); /* a reset in another thread may free the stream */
    const struct object *object = address_table_find(&objects.table, (uint64_t)stream);
    if (object != NULL && object->kind == STREAM) device = object->device;
    pthread_mutex_unlock(&objects.mutex);
    return device;
}

unsigned long long cudart_stream_id(cudaStream_t stream)
{
    const struct object *object = cudart_stream_object(stream);
    return object != NULL ? object->id : DEFAULT_STREAM_ID;
}

/* ---- allocations ----------------------------------------------------------------------------- */

static struct handles allocations = NO_HANDLES; /* struct runtime_allocation by address, owned */

int cudart_map(void *memory, size_t bytes)
{
    for (int i = 0; i < cudart_device_count(); i++) {
        int error = emu_map_host(cudart_device_at(i)->emu, memory, bytes);
        if (error == EMU_OK) continue;
        while (i-- > 0) emu_unmap_host(cudart_device_at(i)->emu, memory);
        return error;
    }
    return EMU_OK;
}

static int cudart_unmap(void *memory)
{
    int error = EMU_OK;
    for (int i = 0; i < cudart_device_count(); i++) {
        int result = emu_unmap_host(cudart_device_at(i)->emu, memory);
        if (result != EMU_OK) error = result;
    }
    return error;
}

void *cudart_map_new(size_t bytes)
{
    void *memory;
    if (posix_memalign(&memory, emu_alignment(bytes), bytes) != 0) return NULL;
    if (cudart_map(memory, bytes) == EMU_OK) return memory;
    free(memory);
    return NULL;
}

/* For memcheck; 0 bytes: it is freed. */
static void log_host(const struct runtime_allocation *allocation, size_t bytes)
{
    for (int i = 0; i < cudart_device_count(); i++)
        emu_log_host(cudart_device_at(i)->emu, allocation->address, bytes);
}

void cudart_remember(struct runtime_allocation allocation)
{
    struct runtime_allocation *kept = allocated(malloc(sizeof *kept));
    *kept = allocation;
    if (allocation.pool == NULL) kept->device = cudart_device()->number;
    kept->context = cudart_owning_context(kept->device);
    cudart_handles_set(&allocations, allocation.address, kept);
    bool is_of_host = allocation.kind == PINNED || allocation.kind == MANAGED;
    if (is_of_host) log_host(&allocation, allocation.bytes);
}

/* Frees the memory of an allocation. */
static int release(struct runtime_allocation *kept)
{
    const struct runtime_allocation copy = *kept, *allocation = &copy;
    void *address = allocation->address;
    free(allocation->advice);
    free(kept);
    if (allocation->pool != NULL) cudart_pool_give(allocation->pool, allocation->bytes);
    if (allocation->kind == DEVICE) return emu_free(cudart_owner(address)->emu, (emu_addr)address);
    if (allocation->kind == IMPORTED) {
        while (emu_close_import(cudart_owner(address)->emu, (emu_addr)address) == EMU_OK) continue;
        return EMU_OK;
    }
    int error = cudart_unmap(address);
    if (error == EMU_OK && allocation->kind != REGISTERED) {
        log_host(allocation, 0);
        free(address);
    }
    return error;
}

int cudart_forget(void *address, unsigned kinds)
{
    struct runtime_allocation known;
    if (!cudart_recall(address, &known) || !(kinds & 1u << known.kind))
        return cudaErrorInvalidValue;
    struct runtime_allocation *allocation = cudart_handles_take(&allocations, address);
    return allocation != NULL ? release(allocation) : cudaErrorInvalidValue;
}

bool cudart_recall(const void *address, struct runtime_allocation *found)
{
    pthread_mutex_lock(&allocations.mutex);
    const struct runtime_allocation *allocation =
        address_table_find(&allocations.table, (uint64_t)address);
    if (allocation != NULL) *found = *allocation;
    pthread_mutex_unlock(&allocations.mutex);
    return allocation != NULL;
}

struct host_visit {
    void (*visit)(const struct runtime_allocation *, void *);
    void *context;
};

static bool visit_host(void *kept, const void *visit)
{
    const struct runtime_allocation *allocation = kept;
    const struct host_visit *v = visit;
    if (allocation->kind != DEVICE && allocation->kind != IMPORTED)
        v->visit(allocation, v->context);
    return false;
}

void cudart_each_host(void (*visit)(const struct runtime_allocation *, void *), void *context)
{
    cudart_handles_each(&allocations, visit_host, &(struct host_visit){visit, context});
}

static bool drop_allocation(void *kept, const void *context)
{
    struct runtime_allocation *allocation = kept;
    bool is_its = allocation->context == context;
    if (is_its) release(allocation);
    return is_its;
}

void cudart_free_all(const struct context *context)
{
    cudart_handles_each(&allocations, drop_allocation, context);
}
