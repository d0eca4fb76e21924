/* streams.c — streams and events, also those that processes share. */
#define _GNU_SOURCE /* clock_gettime, nanosleep, readlink */
#include "graph.h"
#include <errno.h>
#include <unistd.h>

/* ---- streams --------------------------------------------------------------------------------- */

/* Work is done when it is submitted, so a stream is never busy. Waiting for a stream only returns
 * whether an error has occurred. */

/* Priorities go from 0, the lowest, to this (as on a GPU of compute capability 7.0 or above). */
enum { HIGHEST_PRIORITY = -5 };

static cudaError_t create(cudaStream_t *stream, unsigned flags, int priority)
{
    if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
    if (priority > 0) priority = 0;
    if (priority < HIGHEST_PRIORITY) priority = HIGHEST_PRIORITY;
    return cudart_create(stream, STREAM, flags, priority);
}

RUNTIME(cudaStreamCreateWithPriority, (cudaStream_t *stream, unsigned flags, int priority),
        create(stream, flags, priority))
RUNTIME(cudaStreamCreateWithFlags, (cudaStream_t *stream, unsigned flags), create(stream, flags, 0))
RUNTIME(cudaStreamCreate, (cudaStream_t *stream), create(stream, cudaStreamDefault, 0))

WORK_OF(RUNTIME, cudaStreamDestroy, (cudaStream_t stream), (stream))
{
    int device = cudart_stream_device(stream);
    cudart_work_begins(device); /* a reset in another thread must not free the stream meanwhile */
    struct object *object = cudart_find(stream, STREAM);
    if (object != NULL) cudart_capture_forget(object);
    cudaError_t error = cudart_destroy(stream, STREAM);
    cudart_work_ends(device);
    return error;
}

/* For waiting and querying: an error if it is not a stream, or if an error has occurred in it. */
static cudaError_t check_stream(cudaStream_t stream, bool waits)
{
    bool is_done = cudart_go_on_for(stream, waits);
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudaErrorInvalidResourceHandle;
    cudaError_t error = cudart_check_wait(stream);
    if (error == cudaSuccess && !is_done) return cudaErrorNotReady;
    if (error == cudaSuccess) cudart_order_wait_stream(stream);
    return error;
}

RUNTIME_ANYWHERE_PTSZ(cudaStreamSynchronize, (cudaStream_t stream), check_stream(stream, true))
RUNTIME_ANYWHERE_PTSZ(cudaStreamQuery, (cudaStream_t stream), check_stream(stream, false))

/* ---- properties of a stream ------------------------------------------------------------------ */

/* What is told of a stream; `object` is NULL for the legacy stream. */
#define TELL_OF_STREAM(name, type, value)                                                          \
    WORK_OF(RUNTIME_PTSZ, name, (cudaStream_t stream, type *answer), (stream, answer))             \
    {                                                                                              \
        const struct object *object = cudart_stream_object(stream);                                \
        (void)object;                                                                              \
        if (answer != NULL && !cudart_is_stream(stream)) return cudaErrorInvalidResourceHandle;    \
        return TELL(answer, value);                                                                \
    }

TELL_OF_STREAM(cudaStreamGetFlags, unsigned, object != NULL ? object->flags : cudaStreamDefault)
TELL_OF_STREAM(cudaStreamGetPriority, int, object != NULL ? object->priority : 0)
TELL_OF_STREAM(cudaStreamGetId, unsigned long long, cudart_stream_id(stream))
TELL_OF_STREAM(cudaStreamGetDevice, int, cudart_stream_device(stream))

WORK_OF(RUNTIME, cudaDeviceGetStreamPriorityRange, (int *lowest, int *highest), (lowest, highest))
{
    if (lowest != NULL) *lowest = 0;
    if (highest != NULL) *highest = HIGHEST_PRIORITY;
    return cudaSuccess;
}

/* ---- attributes, which only affect speed: kept without effect -------------------------------- */

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

WORK_OF(RUNTIME_PTSZ, cudaStreamSetAttribute, (cudaStream_t stream, cudaStreamAttrID id,
        const cudaStreamAttrValue *value), (stream, id, value))
{
    if (!cudart_is_stream(stream)) return cudaErrorInvalidResourceHandle;
    cudaStreamAttrValue *place = attribute_of(stream, id);
    if (place == NULL || value == NULL) return cudaErrorInvalidValue;
    *place = *value;
    if (id == cudaLaunchAttributePriority && cudart_stream_object(stream) != NULL)
        cudart_stream_object(stream)->priority = value->priority;
    return cudaSuccess;
}

WORK_OF(RUNTIME_PTSZ, cudaStreamGetAttribute, (cudaStream_t stream, cudaStreamAttrID id,
        cudaStreamAttrValue *value), (stream, id, value))
{
    if (!cudart_is_stream(stream)) return cudaErrorInvalidResourceHandle;
    const cudaStreamAttrValue *place = attribute_of(stream, id);
    if (place == NULL || value == NULL) return cudaErrorInvalidValue;
    *value = *place;
    if (id == cudaLaunchAttributePriority && cudart_stream_object(stream) != NULL)
        value->priority = cudart_stream_object(stream)->priority;
    return cudaSuccess;
}

WORK_OF(RUNTIME_PTSZ, cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), (to, from))
{
    if (!cudart_is_stream(to) || !cudart_is_stream(from)) return cudaErrorInvalidResourceHandle;
    for (int id = 0; id < STREAM_ATTRIBUTES; id++) {
        cudaStreamAttrValue *target = attribute_of(to, (cudaStreamAttrID)id);
        if (target != NULL) *target = *attribute_of(from, (cudaStreamAttrID)id);
    }
    return cudaSuccess;
}

/* ---- functions of the host, called when the work before them is done: at once ---------------- */

RUNTIME_PTSZ(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t call, void *data),
             IF(call != NULL, cudaErrorInvalidValue,
                cudart_submit(stream, &(struct work){.type = cudaGraphNodeTypeHost,
                                                .host = {call, data}})))

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
WORK_OF(RUNTIME_PTSZ, cudaStreamAddCallback, (cudaStream_t stream, cudaStreamCallback_t call,
        void *data, unsigned flags), (stream, call, data, flags))
{
    struct callback callback = {stream, call, data};
    if (call == NULL || flags != 0) return cudaErrorInvalidValue;
    if (cudart_is_capturing(stream)) return cudart_check_wait(stream);
    return cudaLaunchHostFunc(stream, call_back, &callback);
}

/* ---- events that several processes use (cudaIpcGetEventHandle) ------------------------------- */

/* Work is carried out when it is submitted. When an event is recorded, the work before it is done,
 * unless a kernel before the event is suspended. Then a word in device memory, which the processes
 * share, has the number of that kernel's process; otherwise the word is 0. The memory is exported
 * as that of cudaIpcGetMemHandle (allocate.c). */

_Static_assert(sizeof(cudaIpcEventHandle_t) == EMU_HANDLE_BYTES, "the size of a handle");

static struct emu *emu_of(const struct object *event)
{
    return cudart_device_at(event->device)->emu;
}

/* One bit tells the handles of events from those of memory: neither opens as the other. */
static void flip(cudaIpcEventHandle_t *handle) { handle->reserved[0] ^= 1; }

static bool open_word(struct object *event)
{
    const struct emu_rows word = {.bytes = sizeof *event->word, .rows = 1, .slices = 1};
    event->word = emu_view(emu_of(event), event->shared, &word, false, true, NULL);
    return event->word != NULL;
}

/* ---- handles --------------------------------------------------------------------------------- */

static int share(struct object *event)
{
    int error = emu_alloc(emu_of(event), sizeof *event->word, &event->shared);
    if (error) return error;
    if (!open_word(event)) return EMU_OUT_OF_MEMORY;
    *event->word = event->is_behind ? getpid() : 0;
    return EMU_OK;
}

WORK_OF(RUNTIME, cudaIpcGetEventHandle, (cudaIpcEventHandle_t *handle, cudaEvent_t event),
        (handle, event))
{
    struct object *object = cudart_find(event, EVENT);
    if (handle == NULL) return cudaErrorInvalidValue;
    if (object == NULL || !(object->flags & cudaEventInterprocess) || object->is_imported)
        return cudaErrorInvalidResourceHandle;
    bool is_first = object->word == NULL;
    int error = is_first ? share(object) : EMU_OK;
    if (!is_first) emu_hide(emu_of(object), object->shared, false);
    if (error == EMU_OK) error = emu_export(emu_of(object), object->shared, handle);
    if (error == EMU_OK) emu_hide(emu_of(object), object->shared, true); /* it is no leak */
    if (error == EMU_OK) flip(handle);
    return error;
}

WORK_OF(RUNTIME, cudaIpcOpenEventHandle, (cudaEvent_t *event, cudaIpcEventHandle_t handle),
        (event, handle))
{
    emu_addr address;
    if (event == NULL) return cudaErrorInvalidValue;
    flip(&handle);
    int error = emu_import(emu_runtime(), &handle, &address);
    if (error != EMU_OK) return error;
    error = cudart_create(event, EVENT, cudaEventInterprocess | cudaEventDisableTiming, 0);
    if (error != cudaSuccess) {
        emu_close_import(emu_runtime(), address);
        return error;
    }
    struct object *object = cudart_find(*event, EVENT);
    object->is_imported = true;
    object->shared = address;
    open_word(object);
    return cudaSuccess;
}

/* ---- recording and waiting ------------------------------------------------------------------- */

/* The event was recorded by this process. */
static void cudart_ipc_record(struct object *event)
{
    if (event->word != NULL) *event->word = event->is_behind ? getpid() : 0;
}

static void end_word(struct object *event)
{
    int own = getpid();
    if (event->word == NULL || event->device != cudart_device()->number) return;
    atomic_compare_exchange_strong(event->word, &own, 0);
}

void cudart_ipc_kernel_ended(void) { cudart_each_event(end_word); }

/* A process that has ended, but that its parent has not waited for, has a number, but no file. */
static bool lives(int process)
{
    char path[sizeof "/proc/-2147483648/exe"], target;
    snprintf(path, sizeof path, "/proc/%d/exe", process);
    return readlink(path, &target, 1) >= 0 || errno != ENOENT;
}

/* On a GPU the kernel would go on meanwhile. */
static void explain_the_wait(int process, int seconds)
{
    cudart_printf("this process has waited %d seconds for an event: process %d has recorded it "
                  "after a kernel, which the emulator lets go on only while that process waits in "
                  "a call of CUDA (EMU_TIMEOUT=SECONDS says so later)",
                  seconds, process);
}

/* A kernel of this process counts as done: its stream waits for it. */
static bool cudart_ipc_is_done(const struct object *event, bool waits)
{
    const struct timespec moment = {.tv_nsec = 200000};
    time_t begin = time(NULL), patience = setting_number(SETTING_TIMEOUT);
    bool is_explained = false;
    for (;;) {
        int process = event->word != NULL ? *event->word : 0;
        if (process == 0 || process == getpid() || !lives(process)) return true;
        if (!waits) return false;
        if (!is_explained && time(NULL) - begin > patience) {
            explain_the_wait(process, (int)patience);
            is_explained = true;
        }
        nanosleep(&moment, NULL);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

/* All earlier work is done when an event is recorded. The event keeps the host's clock, so
 * cudaEventElapsedTime is the time that the emulator took. */

static cudaError_t create_event(cudaEvent_t *event, unsigned flags)
{
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    bool is_shared = flags & cudaEventInterprocess;
    if (flags & ~known || (is_shared && !(flags & cudaEventDisableTiming)))
        return cudaErrorInvalidValue;
    return cudart_create(event, EVENT, flags, 0);
}

RUNTIME(cudaEventCreateWithFlags, (cudaEvent_t *event, unsigned flags), create_event(event, flags))
RUNTIME(cudaEventCreate, (cudaEvent_t *event), create_event(event, cudaEventDefault))
RUNTIME(cudaEventDestroy, (cudaEvent_t event), cudart_destroy(event, EVENT))

void cudart_record_event(cudaEvent_t event)
{
    struct object *object = cudart_find(event, EVENT);
    if (object == NULL) return; /* destroyed after the graph was made */
    object->recorded = true;
    clock_gettime(CLOCK_MONOTONIC, &object->at);
}

/* In a stream that is captured, an event marks a place in the graph. An event recorded as external
 * is a node of the graph, which records the time whenever the graph runs. */
WORK_OF(RUNTIME_ANYWHERE_PTSZ, cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream,
        unsigned flags), (event, stream, flags))
{
    struct object *object = cudart_find(event, EVENT);
    if (object == NULL || !cudart_is_stream(stream) ||
        object->device != cudart_stream_device(stream))
        return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventRecordDefault && flags != cudaEventRecordExternal)
        return cudaErrorInvalidValue;
    bool captured;
    if (flags == cudaEventRecordExternal) {
        struct work work = {.type = cudaGraphNodeTypeEventRecord, .event = event};
        if (!cudart_is_capturing(stream)) return cudaErrorIllegalState;
        return cudart_submit(stream, &work);
    }
    cudaError_t error = cudart_capture_record(object, stream, &captured);
    if (error == cudaSuccess && !captured) {
        cudart_record_event(event);
        object->is_behind = cudart_is_behind(stream);
        cudart_ipc_record(object);
        cudart_order_record(object, stream);
    }
    return error;
}

RUNTIME_ANYWHERE_PTSZ(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream),
                      cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault))

static cudaError_t check_event(cudaEvent_t event, bool waits)
{
    struct object *object = cudart_find(event, EVENT);
    if (object != NULL && object->is_behind) object->is_behind = !cudart_go_on(waits);
    RETURN_IF_FAULTY();
    if (object == NULL) return cudaErrorInvalidResourceHandle;
    cudaError_t error = cudart_check_event_wait(object);
    if (error == cudaSuccess && object->is_behind) return cudaErrorNotReady;
    if (error == cudaSuccess && !cudart_ipc_is_done(object, waits)) return cudaErrorNotReady;
    if (error == cudaSuccess) cudart_order_wait_host(object);
    return error;
}

RUNTIME_ANYWHERE(cudaEventSynchronize, (cudaEvent_t event), check_event(event, true))
RUNTIME_ANYWHERE(cudaEventQuery, (cudaEvent_t event), check_event(event, false))

WORK_OF(RUNTIME_PTSZ, cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
        (stream, event, flags))
{
    struct object *object = cudart_find(event, EVENT);
    if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal)
        return cudaErrorInvalidValue;
    if (!cudart_is_stream(stream) || object == NULL) return cudaErrorInvalidResourceHandle;
    bool captured;
    if (flags == cudaEventWaitExternal) {
        struct work work = {.type = cudaGraphNodeTypeWaitEvent, .event = event};
        if (!cudart_is_capturing(stream)) return cudaErrorIllegalState;
        return cudart_submit(stream, &work);
    }
    if (object->is_behind) cudart_hold_streams();
    cudaError_t error = cudart_capture_wait(stream, object, &captured);
    if (error == cudaSuccess && !captured) cudart_ipc_is_done(object, true);
    if (error == cudaSuccess && !captured) cudart_order_wait_event(stream, object);
    return error;
}

WORK_OF(RUNTIME, cudaEventElapsedTime, (float *milliseconds, cudaEvent_t start, cudaEvent_t end),
        (milliseconds, start, end))
{
    if (milliseconds == NULL) return cudaErrorInvalidValue;
    const struct object *from = cudart_find(start, EVENT), *to = cudart_find(end, EVENT);
    if (from == NULL || to == NULL || !from->recorded || !to->recorded ||
        from->device != to->device || (from->flags | to->flags) & cudaEventDisableTiming)
        return cudaErrorInvalidResourceHandle;
    cudart_order_wait_host(from);
    cudart_order_wait_host(to);
    double seconds = (double)(to->at.tv_sec - from->at.tv_sec);
    double nanoseconds = (double)(to->at.tv_nsec - from->at.tv_nsec);
    *milliseconds = (float)(seconds * 1e3 + nanoseconds * 1e-6);
    return cudaSuccess;
}
