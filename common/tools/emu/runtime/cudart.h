/* cudart.h — what the files of the runtime library share: tables, code, devices, processes. */
#ifndef EMU_CUDART_H
#define EMU_CUDART_H

#include "common/tools/emu/command/settings.h"
#include "common/tools/emu/machine/device.h"
#include "common/tools/emu/ptx/binary.h"
#include <cuda_runtime_api.h>
#include <driver_types.h>
#include <time.h>

/* The library has the names, types and error codes of NVIDIA's libcudart 13 and does its work
 * through emu.h. All work is done inside the call: when the function returns, the kernel has ended
 * or the copy is done. Streams allow this order, so streams and events never have to wait. */

/* ---- devices (devices.c) --------------------------------------------------------------------- */

enum { MAX_DEVICES = EMU_MAX_PEERS + 1, LIMITS = cudaLimitPersistingL2CacheSize + 1 };

struct device {
    int number;
    struct emu *emu;
    _Atomic int fault; /* a kernel's error, kept until cudaDeviceReset; else cudaSuccess */
    atomic_bool fault_known;
    size_t limits[LIMITS];
    unsigned flags;
    enum cudaFuncCache cache;       /* cudaDeviceSetCacheConfig */
    bool peer_enabled[MAX_DEVICES]; /* cudaDeviceEnablePeerAccess */
    pthread_mutex_t report;         /* held by a launch that is counted */
    size_t printed;                 /* number of the checkers' findings printed so far */
    /* A kernel that waits for the host (cuda_launch.c); NULL: none. The lock is held by the
     * thread that goes on with it. */
    struct suspended_kernel *suspended;
    pthread_mutex_t going_on;
};

int cudart_device_count(void);
/* The device with this number, from 0 to cudart_device_count() - 1. */
struct device *cudart_device_at(int number);
static inline bool cudart_is_device(int number)
{
    return number >= 0 && number < cudart_device_count();
}
/* The calling thread's device. emu_runtime() is its emulator. */
struct device *cudart_device(void);
/* Makes a device the calling thread's; returns the number of the previous one. */
int cudart_use_device(int number);
/* The calling thread's work on a device begins and ends. In between, no context of the device ends;
 * pairs may be nested. (context.c) */
void cudart_work_begins(int device);
void cudart_work_ends(int device);
/* The newest compute capability (90 for 9.0) whose code the devices run. */
unsigned cudart_newest_code(void);
/* Sets the limits of cudaDeviceSetLimit to a GPU's defaults. (devices.c) */
void cudart_default_limits(struct device *);
/* A kernel sets the value of a condition; returns an error of CUDA. (graph_exec.c) */
int cudart_set_condition(uint64_t handle, unsigned value);
/* What kernels ask of the runtime. (properties.c) */
struct emu_host_side cudart_host_side(void);
/* Withdraws the device's permissions to access other devices' memory. (devices.c) */
void cudart_drop_peers(void);
/* The device that owns the memory at an address; NULL for host addresses. */
struct device *cudart_owner(const void *);

/* ---- contexts (context.c) -------------------------------------------------------------------- */

struct context;
/* The context that owns what is made on a device now: the current one, or the primary one. */
const struct context *cudart_owning_context(int device);
/* Does the calling thread carry out a function of the driver API? Its errors are not kept for
 * cudaGetLastError, and have the driver's names. */
extern _Thread_local bool cudart_in_driver;
/* The runtime is used: if the thread has no context, it gets its device's primary one. */
void cudart_bind_context(void);

/* ---- the driver API (runtime/driver*.c), which is above this library's other parts ----------- */

/* The driver's error in place of the runtime's, its name, and a function of the driver by its name,
 * as programs of a version of CUDA know it. */
int cudart_driver_error(int error);
const char *cudart_driver_error_name(int error);
enum cudart_query { QUERY_FOUND, QUERY_TOO_NEW, QUERY_UNKNOWN };
enum cudart_query cudart_driver_function(const char *name, int version, bool per_thread,
                                         void **function);
/* All its functions, as the toolkit's headers declare them (driver_refused.c). */
struct driver_name {
    const char *name, *base; /* base: as programs write it, without _v2 and _ptsz */
    int version;             /* of CUDA, since which the function has this form: 12000 for 12.0 */
    void (*function)(void);
};
extern const struct driver_name driver_names[]; /* by name */
extern const size_t driver_name_count;

/* ---- errors (context.c) ---------------------------------------------------------------------- */

/* After a kernel's fault, calls that need the device fail until cudaDeviceReset. As on a GPU, where
 * the launch has returned before the fault, launches succeed until another call has failed.
 * These functions refer to the calling thread's device. */
void cudart_set_fault(cudaError_t);
/* Does the device have a fault, even if the program does not know it yet? Then later launches do
 * nothing. */
bool cudart_is_faulty(void);

/* Keeps an error for cudaGetLastError and returns it. */
cudaError_t cudart_done(int error);
/* Keeps and returns an error about a `pointer` that could not be freed. */
cudaError_t cudart_done_free(int error, const void *pointer);

/* Says, once for each feature, that it is not supported, why and what to do instead, and where the
 * program has called the runtime. Returns cudaErrorNotSupported. (place.c) */
cudaError_t cudart_not_supported(const char *feature, const char *why);

/* The error of a call that must not be carried out, because the device has a fault or because the
 * call comes from a host function of a stream. Otherwise cudaSuccess. */
cudaError_t cudart_refusal(void);
/* Goes on with the device's suspended kernel, if there is one: to its end if the caller `waits` for
 * it, else until it waits for the host again. If another thread goes on with it already, a caller
 * that `waits` waits for that thread. True: the kernel has ended. (cuda_launch.c) */
bool cudart_go_on(bool waits);
/* The program ends: goes on with all of them to their ends. */
void cudart_go_on_at_end(void);
/* Goes on with it for a stream: a kernel that waits in another stream, not the legacy one, is not
 * waited for. True: no suspended kernel comes before the stream's next work. */
bool cudart_go_on_for(cudaStream_t, bool waits);
bool cudart_is_behind(cudaStream_t);
/* From now on, work in all streams comes after the suspended kernel. */
void cudart_hold_streams(void);
/* The devices have been interrupted: the suspended kernels end, and are in the reports. */
void cudart_stop_suspended(void);
/* Does the calling thread run a host function of a stream? (work.c) */
bool cudart_in_host_function(void);

/* cudart_refusal() for a function that may wait for the device, which is not allowed while a stream
 * is captured. */
cudaError_t cudart_refusal_to_wait(void);

/* A function of the runtime is one line, RUNTIME(name, (parameters), work). The work returns an
 * error as an int, and is done only if cudart_refusal() has no error; RUNTIME_WAITS: only if the
 * function may wait; RUNTIME_ANYWHERE: in any case. cudart_end() keeps the error as cudart_done()
 * does, if that has not been done yet. */
#define RUNTIME(name, parameters, work) RUNTIME_IF(cudart_refusal(), name, parameters, work)
#define RUNTIME_WAITS(name, parameters, work)                                                      \
    RUNTIME_IF(cudart_refusal_to_wait(), name, parameters, work)
#define RUNTIME_ANYWHERE(name, parameters, work) RUNTIME_IF(cudaSuccess, name, parameters, work)
#define RUNTIME_IF(refusal, name, parameters, work)                                                \
    cudaError_t CUDARTAPI name parameters                                                          \
    {                                                                                              \
        cudart_begin();                                                                            \
        int refused = refusal;                                                                     \
        return cudart_end(refused != cudaSuccess ? refused : (int)(work));                         \
    }
void cudart_begin(void);
cudaError_t cudart_end(int error);

/* If the work is more than one expression, it is the body that follows WORK_OF(row, name,
 * (parameters), (their names)). */
#define WORK_OF(row, name, parameters, names)                                                      \
    static int work_of_##name parameters;                                                          \
    row(name, parameters, work_of_##name names) static int work_of_##name parameters

/* For work of RUNTIME_ANYWHERE that is refused only after something else has been done. */
#define RETURN_IF_FAULTY()                                                                         \
    do {                                                                                           \
        cudaError_t refusal = cudart_refusal();                                                    \
        if (refusal != cudaSuccess) return refusal;                                                \
    } while (0)

/* Work for such lines: cudaErrorInvalidValue if there is no place for an answer; and another error
 * unless a condition holds. */
#define TELL(place, value)                                                                         \
    ((place) == NULL ? cudaErrorInvalidValue : (*(place) = (value), cudaSuccess))
#define IF(condition, error, work) ((condition) ? (int)(work) : (int)(error))
#define IF_DEVICE(number, work)                                                                    \
    IF(cudart_is_device(number), cudaErrorInvalidDevice, work)
#define IF_STREAM(stream, work) IF(cudart_is_stream(stream), cudaErrorInvalidResourceHandle, work)

/* Exit codes of the process when the emulator cannot go on: wrong EMU_* variables, or no device;
 * and when a kernel exceeds a budget or baseline. */
enum { EXIT_USAGE = 2, EXIT_DEVICE = 3, EXIT_EXCESS = 4 };

/* The value of `work`, which is done with the mutex held. */
#define LOCKED(mutex, work)                                                                        \
    ({                                                                                             \
        pthread_mutex_lock(&(mutex));                                                              \
        __typeof__(work) its_value = work;                                                         \
        pthread_mutex_unlock(&(mutex));                                                            \
        its_value;                                                                                 \
    })

/* The value of `work`, for which the thread's device is this one; and work on each device. */
#define WITH_DEVICE(device, work)                                                                  \
    ({                                                                                             \
        int was = cudart_use_device(device);                                                       \
        __typeof__(work) its_value = work;                                                         \
        cudart_use_device(was);                                                                    \
        its_value;                                                                                 \
    })
#define ON_EACH_DEVICE(i, work)                                                                    \
    for (int i = 0; i < cudart_device_count(); i++) WITH_DEVICE(i, (work, 0))

/* Ends the process at once, without a report; the program's output is flushed. */
_Noreturn void cudart_exit(int code);

/* Prints sentences on stderr, one per line, each behind "emu: ". */
void cudart_print(const char *sentences);
__attribute__((format(printf, 1, 2))) void cudart_printf(const char *format, ...);

/* `nvcc -default-stream per-thread` calls f_ptsz or f_ptds for f. No stream ever has unfinished
 * work, so both kinds of default stream behave alike. */
#define ALSO_PTSZ(name) extern __typeof__(name) name##_ptsz __attribute__((alias(#name)))
#define ALSO_PTDS(name) extern __typeof__(name) name##_ptds __attribute__((alias(#name)))
#define RUNTIME_PTSZ(name, parameters, work) RUNTIME(name, parameters, work) ALSO_PTSZ(name);
#define RUNTIME_ANYWHERE_PTSZ(name, parameters, work)                                              \
    RUNTIME_ANYWHERE(name, parameters, work) ALSO_PTSZ(name);

/* A copy or fill has two functions, one that does it before it returns, and one that does it in a
 * stream, and both have a second name. `when` stands in the work for the function that it is. */
struct when {
    cudaStream_t stream;
    bool now;
};
#define NOW_OR_IN_STREAM(row, name, work, ...)                                                     \
    row(name, (__VA_ARGS__), WHEN(NULL, true, work))                                               \
    row(name##Async, (__VA_ARGS__, cudaStream_t stream), WHEN(stream, false, work))                \
    ALSO_PTDS(name);                                                                               \
    ALSO_PTSZ(name##Async);
#define WHEN(its_stream, is_now, work)                                                             \
    ({                                                                                             \
        const struct when when = {its_stream, is_now};                                             \
        (int)(work);                                                                               \
    })

/* ---- kernels and variables (registered.c) ---------------------------------------------------- */

/* A kernel on one device. */
struct function {
    const char *name;          /* mangled */
    struct emu_kernel *kernel; /* NULL until first used */
    cudaError_t error;         /* why it cannot be used, once that is known */
    unsigned ptx_arch;         /* architecture of its PTX: 90 for compute_90 */
    unsigned code_arch;        /* of the machine code that a GPU would run */
    size_t max_dynamic_shared; /* bytes, as set by cudaFuncSetAttribute; 0: the default */
    int carveout;              /* percent, and 1; set likewise. 0: the default */
    enum cudaFuncCache cache;  /* as set by cudaFuncSetCacheConfig */
    bool large_clusters;       /* clusters of more than EMU_PORTABLE_CLUSTER blocks; set likewise */
};

/* Finds the function of a stub's address or of a cudaKernel_t, loaded and ready to run on the
 * calling thread's device. If that fails, the emulator's message is printed once, and *function is
 * NULL. It is not NULL if the emulator refuses this kernel (cudaErrorNotSupported): its name is
 * known, and it cannot run. */
cudaError_t cudart_function(const void *host, struct function **function);
/* The dynamic shared memory that fits beside its static one into such a size of a block, and the
 * most that cudaFuncSetAttribute can allow it. (occupancy.c) */
size_t cudart_dynamic_limit(const struct function *, size_t per_block);
size_t cudart_dynamic_most(const struct function *);
/* The function of a kernel that another kernel has launched, by its mangled name; `other` if no
 * kernel with this name is registered. */
const struct function *cudart_function_named(const char *name, const struct function *other);
/* Until the caller returns, the kernel stays loaded. */
static inline void cudart_work_over(const int *device) { cudart_work_ends(*device); }
#define RETURN_UNLESS_FUNCTION(host, function)                                                     \
    __attribute__((cleanup(cudart_work_over))) int its_device = cudart_device()->number;           \
    cudart_work_begins(its_device);                                                                \
    struct function *function;                                                                     \
    cudaError_t not_found = cudart_function(host, &function);                                      \
    if (not_found != cudaSuccess) return cudart_done(not_found)

/* Work for a row, with `function`. */
#define WITH_FUNCTION(host, work)                                                                  \
    ({                                                                                             \
        RETURN_UNLESS_FUNCTION(host, function);                                                    \
        (int)(work);                                                                               \
    })

/* Finds the device address and size of the variable whose host shadow is at `host`. */
cudaError_t cudart_variable(const void *host, emu_addr *address, size_t *bytes);

/* Finds the address at `offset` of a variable. Fails unless `bytes` bytes from there lie inside it.
 * (copy.c) */
cudaError_t cudart_locate(const void *host, size_t bytes, size_t offset, void **address);

/* For kernels that ask: emu_host_side.occupancy. (occupancy.c) */
int cudart_occupancy(const struct emu_gpu *, const struct emu_kernel *, int threads,
                     size_t dynamic_shared, int *blocks);

/* Unloads the device's code. The next use loads it again, with initialised variables. */
void cudart_unload(void);

/* ---- memory (allocate.c, copy.c) ------------------------------------------------------------- */

/* Frees everything that belongs to a context. */
void cudart_free_all(const struct context *);
/* Allocates host memory that all devices can access; NULL: out of memory. */
void *cudart_map_new(size_t bytes);
/* Lets all devices access host memory, and ends that. Returns an enum emu_error. */
int cudart_map(void *host, size_t bytes);

/* Is all of [pointer, pointer+bytes) memory of one device, or of the host and mapped into all? */
bool cudart_is_reachable(const void *pointer, size_t bytes);

/* ---- streams (handles.c) --------------------------------------------------------------------- */

bool cudart_is_stream(cudaStream_t);
/* The number of a stream's device; for a default stream, of the calling thread's device. */
int cudart_stream_device(cudaStream_t);
/* The number that ncu shows for a stream. */
unsigned long long cudart_stream_id(cudaStream_t);
/* Removes a context's streams and events. */
void cudart_drop_streams(const struct context *);

/* ---- settings (devices.c) -------------------------------------------------------------------- */

/* Ends the program with one sentence that says which values a variable takes. */
_Noreturn void cudart_refuse(enum setting_id, const char *value, const char *takes);
/* The rules by which memory is counted, if a setting names them; else NULL. */
const struct emu_model *cudart_model(void);
/* The value of a variable that is none of the emulator's own; NULL if it is not set or empty. */
const char *cudart_environment(const char *name);

/* ---- files to write (output.c) --------------------------------------------------------------- */

/* The file that this process writes for a variable that names one, or NULL. Ends the process if the
 * file is this program, or any program or library. */
const char *cudart_output(enum setting_id);
/* Ends the process if a file to write is a source file of a module. */
void cudart_keep_sources(const struct emu_module *);

/* ---- the trace (output.c) -------------------------------------------------------------------- */

/* Ends the process if the file of EMU_TRACE cannot or must not be written. */
void cudart_check_trace(void);
/* Begins the file of EMU_TRACE; NULL if the variable is not set. An error ends the process. */
FILE *cudart_open_trace(void);
/* Completes the trace of a program that ends with this exit code. An error ends the process. */
void cudart_end_trace(int status);

/* ---- Ctrl-C (process.c) ---------------------------------------------------------------------- */

enum { EXIT_INTERRUPTED = 130 };

/* Makes SIGINT print the reports and end the program with EXIT_INTERRUPTED, unless the program has
 * its own handler, and stops kernels at the signals of cudart_observe_end(). */
void cudart_catch_interrupt(void);
/* Called before and after each launch; `result` is the launch's result. */
void cudart_kernel_begins(void);
void cudart_kernel_ends(int result);

/* ---- long kernels (findings.c) --------------------------------------------------------------- */

void cudart_progress_settings(void);
/* From now on a line on stderr tells of kernels that run for long, if EMU_PROGRESS allows it. */
void cudart_progress_watch(void);
/* A kernel has ended: takes the line off the terminal. */
void cudart_progress_remove(void);

/* ---- the document of a run (output.c) -------------------------------------------------------- */

/* Reads which of its forms are asked for: tables of counters, and others. */
void cudart_tables_settings(void);
void cudart_document_settings(void);
/* Chooses the names of its files again, for a forked process. */
void cudart_document_paths(void);
/* Is any form asked for, and so counting? */
bool cudart_report_wanted(void);
/* Has one of them pictures? */
bool cudart_document_has_pictures(void);

/* A kernel that is about to run. */
struct cudart_launch {
    int (*run)(void *context); /* returns an enum emu_error */
    void *context;
    const struct function *function;
    struct emu_dim grid, block;
    unsigned long long stream; /* its number */
};
/* Runs it, and keeps what it counted if that is asked for. */
int cudart_report_launch(const struct cudart_launch *);
/* Did this error happen while a kernel ran, rather than keep it from starting? (cuda_launch.c) */
bool cudart_is_kernel_fault(int error);

/* Write the tables, and the other forms. Further calls do nothing. The second one ends the process
 * if a kernel exceeds its limits. */
void cudart_tables_write(void);
void cudart_document_write(void);

/* ---- the checkers (findings.c) --------------------------------------------------------------- */

/* Reads what is asked for. */
void cudart_check_settings(void);
/* Sets the checkers in a device's settings. */
void cudart_check_config(struct emu_config *);

/* Are there any? */
bool cudart_check_wanted(void);
/* Prints the head of a process's findings. */
void cudart_check_begin(void);
/* Flushes the log. */
void cudart_check_flush(void);

/* Prints the findings since the last call. */
void cudart_check_print(void);
/* Prints the summary now rather than when the program ends. Further calls do nothing. It may end
 * the process. */
void cudart_check_end(void);

/* memcheck: reports that the current runtime function returns an error. `pointer` is what could not
 * be freed, else NULL. */
void cudart_check_api(cudaError_t, const void *pointer);
/* Reports that a library's function has accessed memory that is not there; without memcheck, as a
 * line on stderr. */
void cudart_check_library(const char *sentence);
/* memcheck: reports memory of the calling thread's device that was not freed. */
void cudart_check_leaks(void);
/* Notes that a kernel has not come to its end. */
void cudart_check_failure(void);
/* Notes that the emulator has refused to run a kernel. */
void cudart_check_refusal(void);

/* ---- the valid handles of one kind ----------------------------------------------------------- */

/* All functions take constant time. */

struct handles {
    struct address_table table;
    pthread_mutex_t mutex; /* protects the table */
};

#define NO_HANDLES                                                                                 \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER                                                         \
    }

/* Makes a handle valid, which stands for the object. */
void cudart_handles_set(struct handles *, const void *handle, void *object);
/* The object of a handle; NULL: the handle is not valid. */
void *cudart_handles_find(struct handles *, const void *handle);
/* Makes the handle invalid, and returns its object; NULL: it was not valid. */
void *cudart_handles_take(struct handles *, const void *handle);
/* Calls `visit` for each object while the table is locked. If that returns true, the object's
 * handle becomes invalid. */
void cudart_handles_each(struct handles *, bool (*visit)(void *object, const void *context),
                         const void *context);

/* ---- a list of different nodes of a graph ---------------------------------------------------- */

/* A list of different nodes of a graph: the dependencies of a node, or the tail of a
 * stream that is captured. A list filled with zeros is empty.
 *
 * A long list has a table of its nodes' places, so all functions take constant time. */

struct node; /* of a graph (graph.h) */

struct node_list {
    struct node **node;
    size_t count, room;
    struct address_table places; /* the index plus 1 of each node; empty if the list is short */
};

/* Adds a node at the end, unless the list has it. */
void cudart_append(struct node_list *, struct node *);
bool cudart_contains(const struct node_list *, const struct node *);
/* Removes all nodes; the list keeps its memory. */
void cudart_clear(struct node_list *);
/* Removes all nodes and frees the memory. */
void cudart_empty(struct node_list *);

/* ---- streams and events ---------------------------------------------------------------------- */

/* One table holds them all, so invalid handles and handles of the wrong kind are noticed. */

enum { STREAM_ATTRIBUTES = cudaLaunchAttributeMemSyncDomain + 1 };

struct object {
    enum object_kind { STREAM, EVENT } kind;
    unsigned flags;
    int device;                    /* the device that was current */
    const struct context *context; /* that owns it; NULL: it is a default stream */
    /* of a stream */
    unsigned long long id;
    int priority;
    cudaStreamAttrValue attributes[STREAM_ATTRIBUTES];
    /* of an event */
    bool recorded;
    /* of one that other processes use (streams.c) */
    _Atomic int *word; /* NULL: none does */
    emu_addr shared;   /* the word's device address; 0: none */
    bool is_imported;
    /* of both: the operation after which later work comes; 0: none (order.c) */
    _Atomic uint64_t last;
    struct timespec at; /* when */
    bool is_behind;     /* a kernel came before it that waited for the host (cuda_launch.c) */
    /* For a stream that is being captured, and for an event recorded in one: the number of the
     * capture, and the nodes on which later work depends (capture.c). 0, or the number of a
     * capture that has ended, means none. */
    unsigned long long capture;
    struct node_list tail;
};

/* Makes an object and writes its handle into *handle. */
cudaError_t cudart_create(void *handle, enum object_kind, unsigned flags, int priority);
/* The object of a handle; NULL if the handle is not valid. The default streams have no object here.
 * */
struct object *cudart_find(const void *handle, enum object_kind);
cudaError_t cudart_destroy(const void *handle, enum object_kind);
/* Calls `visit` for each event. It must not make or destroy events. */
void cudart_each_event(void (*visit)(struct object *));

/* Does the stream NULL mean the calling thread's own default stream, and not the legacy one? */
extern _Thread_local bool cudart_default_is_per_thread;
/* The calling thread's own default stream. */
struct object *cudart_per_thread_stream(void);
/* The object of a stream; NULL for the legacy default stream. */
struct object *cudart_stream_object(cudaStream_t);
/* Is the stream the legacy default stream, which has several names? */
bool cudart_is_legacy(cudaStream_t);

/* ---- the table of the program's allocations -------------------------------------------------- */

struct memory_pool; /* memory_pools.c */

/* The program's advice about managed memory (allocate.c). */
struct advice {
    bool read_mostly, by_host, by_device[MAX_DEVICES];
    struct cudaMemLocation preferred, prefetched;
};

/* An allocation. Device memory belongs to the emulator; IMPORTED is that of another process. All
 * other kinds are host memory, which devices access at the same address. */
enum memory_kind { DEVICE, PINNED, MANAGED, REGISTERED, IMPORTED };

struct runtime_allocation {
    void *address;
    size_t bytes;
    enum memory_kind kind;
    unsigned flags;
    int device;                    /* the device that was current, or the pool's */
    const struct context *context; /* that owns it */
    struct memory_pool *pool;      /* the pool of device memory; NULL: none */
    struct advice *advice;         /* of managed memory, owned */
};

/* Adds an allocation to the table. */
void cudart_remember(struct runtime_allocation);
/* Frees an allocation if the bit of its kind is set in `kinds`, and removes it from the table. */
int cudart_forget(void *address, unsigned kinds);
/* Finds the allocation that begins at an address. False: not found. */
bool cudart_recall(const void *address, struct runtime_allocation *found);

/* Calls a function for each allocation of host memory. */
void cudart_each_host(void (*visit)(const struct runtime_allocation *, void *), void *context);

/* Allocates device memory from a pool, or, with pool = NULL, from the device. */
cudaError_t cudart_allocate(void **pointer, size_t bytes, struct memory_pool *);
/* Counts bytes that are taken from a pool or given back to it. (memory_pools.c) */
void cudart_pool_take(struct memory_pool *, size_t bytes);
void cudart_pool_give(struct memory_pool *, size_t bytes);

/* ---- the table of CUDA arrays, the memory that textures and surfaces read -------------------- */

/* An array is ordinary device memory, whose rows and slices follow each other without gaps.
 * Programs do not get its address. */

struct cudaArray {
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; /* in elements, as asked for: 0 in an axis that it does not have */
    unsigned flags;
    int device; /* the device that was current */
    enum emu_texture_shape shape;
    void *memory;
    size_t element, row, slice; /* bytes */
};

/* The array of a handle; NULL if the handle is not valid. (textures.c) */
const struct cudaArray *cudart_array(cudaArray_const_t);
/* Its size in elements, with 1 in an axis that it does not have. */
struct cudaExtent cudart_array_size(const struct cudaArray *);
/* Removes the calling thread's device's arrays, without their memory. */
void cudart_drop_arrays(void);

/* The most elements of linear memory that a texture reads (CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability"). */
enum { LARGEST_LINEAR_TEXTURE = 1 << 28 };
/* Of a texture of rows at a pitch: elements, rows, and bytes of the pitch. */
enum { LARGEST_PITCH_WIDTH = 131072, LARGEST_PITCH_HEIGHT = 65000, LARGEST_PITCH = 2097120 };
/* What the address of such memory, and its pitch, must be a multiple of, in bytes. */
enum { TEXTURE_ALIGNMENT = 512, TEXTURE_PITCH_ALIGNMENT = 32 };

/* textures.c: destroys the calling thread's device's texture and surface objects. */
void cudart_drop_textures(void);

/* copy.c: the copy in bytes, without arrays. */
cudaError_t cudart_flatten_copy(const struct cudaMemcpy3DParms *, struct cudaMemcpy3DParms *flat);

/* ---- finds the place in the program that called the runtime library -------------------------- */

/* A place is the chain of return addresses, from the program's call of the library outward. Its
 * description has a line for each function up to main: with file and line if the program was
 * compiled with -g and addr2line is installed, otherwise with function and offset. */

/* Finds the place where the program called this library. */
void cudart_place(struct emu_host_place *);
/* Until the calling thread's next call of this function, code of the shared library with this
 * address counts as the emulator's own. NULL: of none. */
void cudart_place_library(const void *address);
void cudart_describe_place(const struct emu_host_place *, char *text, size_t size);

/* The name of the runtime function that the program has called, like "cudaMalloc". */
void cudart_function_name(char *name, size_t size);

/* ---- processes (process.c) ------------------------------------------------------------------- */

/* Does this process write reports: the one that began, or a forked one that has opened devices? */
bool cudart_is_owner(void);
/* Was this process forked by the one that began, and does it write reports? */
bool cudart_is_forked(void);
/* This process opens devices. */
void cudart_claim(void);
bool cudart_has_devices(void);
/* Was this process forked after its parent had opened devices? Says so once. */
bool cudart_is_forked_too_late(void);

/* Tells the command emu at once what has happened. */
void cudart_parent_tell(enum outcome);
/* The parts of documents that the command emu puts together if it has started a script, or another
 * command, that has started this program. Does it take such parts? */
enum cudart_part { CUDART_REPORT, CUDART_SARIF, CUDART_HTML, CUDART_KERNELS, CUDART_PARTS };
bool cudart_parent_takes(enum cudart_part);
/* Opens the file that takes a part, for this process alone; -1: nothing takes it. Is this the first
 * part in the file? */
int cudart_parent_open(enum cudart_part, bool *is_first);
/* Adds a part and closes the file. Returns 0 or an errno. */
int cudart_parent_write(int file, const char *text, size_t length);

/* From now on signals that end the program first write the reports, unless the program handles or
 * ignores them. */
void cudart_observe_end(void);
/* Does a thread wait for the reports, perhaps within a function of the C library? */
bool cudart_thread_waits(void);
/* Ends the process as the C library does in _exit: without reports. */
_Noreturn void cudart_leave(int code);
/* The exit code with which the program ends, once that is known. */
int cudart_end_status(void);
/* From now on the exit code given to exit is noted. exit() calls first what was registered last,
 * and this library's destructors were registered when the program began. */
void cudart_observe_status(void);

/* ---- the program's code, as its constructors register it ------------------------------------- */

/* registered.c keeps what they register. registered.c loads the code for each device when a kernel
 * or a variable is first used there. */

/* The argument of __cudaRegisterFatBinary (fatbinary_section.h). */
struct fatbin_wrapper {
    int magic, version;
    const void *data;
    /* In version 2, made by nvcc -rdc=true: a NULL-terminated array of the fat binaries of the
     * object files. `data` is then the linked machine code, without PTX. */
    const void *const *objects;
};

enum { WRAPPER_MAGIC = 0x466243B1, WRAPPER_WITH_OBJECTS = 2 };

/* A program's code on one device. */
struct image {
    bool loaded;
    cudaError_t error; /* of loading */
    unsigned ptx_arch;
    struct emu_module *module; /* NULL: not loaded, or loading failed */
    struct fatbin_code code;   /* its machine code; data = NULL: none */
};

/* A fat binary, or all fat binaries that -rdc=true has linked together; or what the program loads
 * while it runs (load_module.c), a fat binary or texts. */
struct program {
    const struct fatbin_wrapper *wrapper;
    struct image on[MAX_DEVICES];
    struct program *next;
    struct module_source *module; /* NULL: it is compiled into the program */
};

/* A kernel as registered. The program's cudaKernel_t is a pointer to it. */
struct kernel {
    const void *host; /* the address of its stub, by which the program names it */
    const char *name; /* mangled */
    struct program *program;
    struct function on[MAX_DEVICES];
    struct kernel *next;
};

struct variable {
    const void *host; /* of a __managed__ variable: the address of the host's pointer to it */
    const char *name;
    struct program *program;
    bool is_managed;
    void *managed; /* its address on the host and on all devices; NULL until first used */
    size_t bytes;
    struct variable *next;
};

/* Everything that has been registered, newest first. Only modules are removed. */
struct registered {
    struct program *programs;
    struct kernel *kernels;
    struct variable *variables;
    pthread_mutex_t mutex;
};
extern struct registered cudart_registered;

/* Loads a program for the thread's device, unless that has been tried before. An error is printed
 * once. The mutex is held. */
cudaError_t cudart_load(struct program *);
/* Does so and writes the error into the message instead. */
enum { LOAD_MESSAGE = 1024 };
cudaError_t cudart_load_quietly(struct program *, char message[LOAD_MESSAGE]);
/* Takes a program's code from the calling thread's device. The mutex is held. */
void cudart_unload_image(struct image *);
/* Ends the modules of a context. (load_module.c) */
void cudart_drop_modules(const struct context *);
/* The kernel of a stub's address, or of a cudaKernel_t, loaded or not. The mutex is held. */
struct kernel *cudart_find_kernel(const void *host);

/* ---- code that a program loads while it runs, as the driver API's modules and libraries ------ */

/* It is a struct program like code that is compiled in, so all functions of the runtime take its
 * kernels: a CUfunction or CUkernel is a pointer to a struct kernel, as a cudaKernel_t is. */

struct module_source {
    const struct context *context; /* that owns it; NULL: it is a library, and all may use it */
    struct fatbin_wrapper wrapper; /* of a fat binary */
    struct emu_ptx *texts;         /* or the PTX texts, owned; NULL: it is a fat binary */
    size_t count;                  /* of texts */
    unsigned registers;            /* the most that a thread may have; 0: any number */
    void *data;                    /* the copy that wrapper or texts point into, owned */
};

/* Loads what an image holds for the calling thread's device: PTX text with a NUL behind it, a fat
 * binary with PTX, of which at most `limit` bytes are read (SIZE_MAX: its own length is right), or
 * what cudart_pack_texts() has made. Errors are written into the message: what has no PTX is
 * cudaErrorNoKernelImageForDevice, what is none of these cudaErrorInvalidKernelImage, and what uses
 * a name that it does not define cudaErrorSymbolNotFound. `name` stands for the image in
 * messages. */
cudaError_t cudart_load_module(const void *image, size_t limit, const char *name,
                               const struct context *, struct program **,
                               char message[LOAD_MESSAGE]);
/* Ends a module. False: there is no such module. Its handle and those of its kernels stay invalid.
 */
bool cudart_unload_module(struct program *);
/* Finds the module of a handle; NULL: it is no module's. */
struct program *cudart_find_module(const void *handle);

/* PTX texts, and the most registers of a thread, as one image. cudart_load_module() links the texts
 * when it loads them. Memory for the caller to free. */
void *cudart_pack_texts(const struct emu_ptx *, size_t count, unsigned registers, size_t *bytes);
/* Is this PTX text, rather than something else that a driver can load? */
bool cudart_is_ptx(const void *image);

/* The kernel of a module by its name; cudaErrorSymbolNotFound: it has no such kernel. Any other
 * error says why the kernel cannot run; it has been printed. */
cudaError_t cudart_module_kernel(struct program *, const char *name, struct kernel **);
/* The name of the kernel with this index; NULL: there are fewer. */
const char *cudart_module_kernel_name(struct program *, size_t index);
cudaError_t cudart_module_variable(struct program *, const char *name, emu_addr *, size_t *bytes);
/* The program whose kernel this is; NULL: it is none. */
struct program *cudart_program_of(const void *kernel);

/* ---- the contexts of devices ----------------------------------------------------------------- */

/* A context owns memory, streams and modules, which end with it. Each device has a primary one,
 * which the runtime uses; the driver API makes others.
 *
 * A thread has a stack of contexts. The top one is current: its device is the thread's. */

struct context {
    struct device *device;
    unsigned flags;
    unsigned long long id;
    /* Of a primary context: how often it is retained, by the driver API and once by the runtime. Of
     * another one: 1 until it is destroyed. With 0 it is dead, and owns nothing. */
    atomic_uint references;
    atomic_bool held;     /* of a primary one: by the runtime */
    struct context *next; /* the one that was made before it */
};

/* Contexts are never freed, so a dead one's handle stays invalid. */
struct context *cudart_new_context(struct device *, unsigned flags);
/* Is this the handle of a context, dead or not? */
bool cudart_is_context(const struct context *);
struct context *cudart_primary_context(int device);
/* Frees all that a context owns. It is dead afterwards. With the primary one a fault of its device
 * is forgotten. */
void cudart_end_context(struct context *);

/* The calling thread's current context; NULL: it has none. */
struct context *cudart_current_context(void);
/* Makes a context current. Push: in front of the others; false: there are too many. Otherwise in
 * place of the current one, if there is one; NULL takes it away. */
bool cudart_push_context(struct context *);
void cudart_set_context(struct context *);

#endif
