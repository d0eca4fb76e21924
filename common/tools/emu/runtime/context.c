/* context.c — contexts of devices, errors of threads, faults of devices. */
#define _GNU_SOURCE /* flockfile, PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP */
#include "graph.h"
#include "common/files/visible.h"
#include <stdarg.h>
#include <unistd.h>

/* ---- the last error of a thread, and the faults of devices ----------------------------------- */

static _Thread_local cudaError_t last_error;
static _Thread_local cudaError_t kept; /* since the call began; cudaSuccess: none */

void cudart_set_fault(cudaError_t error)
{
    struct device *device = cudart_device();
    device->fault_known = false;
    device->fault = error;
}

cudaError_t cudart_refusal(void)
{
    if (cudart_is_forked_too_late()) return cudart_done(cudaErrorInitializationError);
    if (cudart_in_host_function()) return cudart_done(cudaErrorNotPermitted);
    cudart_bind_context();
    cudart_go_on(false);
    struct device *device = cudart_device();
    cudaError_t fault = (cudaError_t)device->fault;
    if (fault == cudaSuccess) return cudaSuccess;
    device->fault_known = true;
    return cudart_done(fault);
}

cudaError_t cudart_refusal_to_wait(void)
{
    cudart_go_on(true);
    cudaError_t refusal = cudart_refusal();
    return refusal != cudaSuccess ? refusal : cudart_done(cudart_check_unsafe());
}

bool cudart_is_faulty(void) { return cudart_device()->fault != cudaSuccess; }

static void cudart_clear_fault(void)
{
    struct device *device = cudart_device();
    device->fault = cudaSuccess;
    device->fault_known = false;
}

cudaError_t cudart_done_free(int error, const void *pointer)
{
    if (error == cudaSuccess) return cudaSuccess;
    if (!cudart_in_driver) last_error = (cudaError_t)error;
    kept = (cudaError_t)error;
    cudart_check_api((cudaError_t)error, pointer);
    return (cudaError_t)error;
}

cudaError_t cudart_done(int error) { return cudart_done_free(error, NULL); }

void cudart_begin(void) { kept = cudaSuccess; }

/* cudaErrorNotReady is an answer. */
cudaError_t cudart_end(int error)
{
    return error == (int)kept || error == cudaErrorNotReady ? (cudaError_t)error
                                                            : cudart_done(error);
}

_Noreturn void cudart_exit(int code)
{
    cudart_end_trace(code);
    if (!cudart_thread_waits()) fflush(NULL);
    cudart_leave(code);
}

void cudart_print(const char *sentences)
{
    flockfile(stderr);
    while (*sentences != '\0') {
        size_t length = strcspn(sentences, "\n");
        fputs("emu: ", stderr);
        visible_print(stderr, sentences, length);
        fputc('\n', stderr);
        sentences += length;
        if (*sentences == '\n') sentences++;
    }
    funlockfile(stderr);
}

void cudart_printf(const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    cudart_print(sentence);
}

cudaError_t CUDARTAPI cudaPeekAtLastError(void) { return last_error; }

cudaError_t CUDARTAPI cudaGetLastError(void)
{
    cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

const char *CUDARTAPI cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define ERROR(name, text)                                                                          \
    case name:                                                                                     \
        return #name;
#include "errors.h"
#undef ERROR
    default: return "unrecognized error code";
    }
}

const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define ERROR(name, text)                                                                          \
    case name:                                                                                     \
        return text;
#include "errors.h"
#undef ERROR
    default: return "unrecognized error code";
    }
}

/* ---- contexts -------------------------------------------------------------------------------- */

enum { DEEPEST = 128 };

static struct context *newest, *primary[MAX_DEVICES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* protects the list that begins there */
static atomic_uint ended = 1;                             /* how many have ended, and 1 */

struct context *cudart_new_context(struct device *device, unsigned flags)
{
    struct context *context = allocated(calloc(1, sizeof *context));
    *context = (struct context){.device = device, .flags = flags};
    pthread_mutex_lock(&mutex);
    context->id = newest != NULL ? newest->id + 1 : 1;
    context->next = newest;
    newest = context;
    pthread_mutex_unlock(&mutex);
    return context;
}

bool cudart_is_context(const struct context *context)
{
    pthread_mutex_lock(&mutex);
    const struct context *c = newest;
    while (c != NULL && c != context) c = c->next;
    pthread_mutex_unlock(&mutex);
    return c != NULL;
}

/* Has the device no other context that lives? Then all of its memory belongs to this one. */
static bool is_alone(const struct context *context)
{
    pthread_mutex_lock(&mutex);
    const struct context *c = newest;
    while (c != NULL && (c == context || c->device != context->device || c->references == 0))
        c = c->next;
    pthread_mutex_unlock(&mutex);
    return c == NULL;
}

static void make_primary(void)
{
    for (int i = 0; i < cudart_device_count(); i++)
        primary[i] = cudart_new_context(cudart_device_at(i), 0);
}

struct context *cudart_primary_context(int device)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_primary);
    return primary[device];
}

static bool is_primary(const struct context *context)
{
    return context == cudart_primary_context(context->device->number);
}

/* ---- work, and the end of a context ---------------------------------------------------------- */

/* Of each device: read-held by threads that have work carried out there, and write-held while a
 * context ends. Threads that launch without pause must not keep it from its end. */
static pthread_rwlock_t locks[] = {[0 ... MAX_DEVICES - 1] =
                                       PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP};
static _Thread_local unsigned depths[MAX_DEVICES]; /* how deep in work the thread is */

void cudart_work_begins(int device)
{
    if (depths[device]++ == 0) pthread_rwlock_rdlock(&locks[device]);
}

void cudart_work_ends(int device)
{
    if (--depths[device] == 0) pthread_rwlock_unlock(&locks[device]);
}

static void end_context(struct context *context)
{
    cudart_go_on(true);
    if (is_primary(context)) cudart_clear_fault();
    cudart_order_wait_device();
    if (is_alone(context)) cudart_check_leaks();
    cudart_drop_modules(context);
    if (is_primary(context)) {
        cudart_unload();
        cudart_drop_textures();
        cudart_drop_arrays();
        emu_heap_limit(emu_runtime(), 0);
        emu_pending_limit(emu_runtime(), 0);
        cudart_default_limits(cudart_device());
        cudart_drop_peers();
    }
    cudart_free_all(context);
    cudart_drop_streams(context);
    context->references = 0;
    context->held = false;
    ended++;
}

/* The emulator's device stays open, because the report still needs its counters. */
void cudart_end_context(struct context *context)
{
    int number = context->device->number, was = cudart_use_device(number);
    bool is_own_work = depths[number] > 0; /* a host function ends the context */
    if (!is_own_work) pthread_rwlock_wrlock(&locks[number]);
    end_context(context);
    if (!is_own_work) pthread_rwlock_unlock(&locks[number]);
    cudart_use_device(was);
}

/* ---- the thread's stack ---------------------------------------------------------------------- */

static _Thread_local struct context *stack[DEEPEST];
static _Thread_local int depth;
static _Thread_local unsigned bound; /* `ended` when the thread was last bound; 0: it is not */
_Thread_local bool cudart_in_driver;

struct context *cudart_current_context(void) { return depth > 0 ? stack[depth - 1] : NULL; }

bool cudart_push_context(struct context *context)
{
    if (depth == DEEPEST) return false;
    stack[depth++] = context;
    cudart_use_device(context->device->number);
    return true;
}

void cudart_set_context(struct context *context)
{
    bound = 0;
    if (depth > 0) depth--;
    if (context != NULL)
        cudart_push_context(context);
    else if (depth > 0)
        cudart_use_device(stack[depth - 1]->device->number);
}

const struct context *cudart_owning_context(int device)
{
    const struct context *current = cudart_current_context();
    bool is_its = current != NULL && current->device->number == device;
    return is_its ? current : cudart_primary_context(device);
}

void cudart_bind_context(void)
{
    if (bound == ended || cudart_in_driver) return;
    if (depth == 0) cudart_push_context(cudart_primary_context(cudart_device()->number));
    struct context *top = cudart_current_context();
    if (is_primary(top) && !atomic_exchange(&top->held, true)) top->references++;
    bound = ended;
}
