/*
 * cudart.h — what the files of the runtime library share.
 *
 * The library has the names, types and error codes of NVIDIA's libcudart 13 and does its work
 * through emu.h. All work is done inside the call: when the function returns, the kernel has ended
 * or the copy is done. Streams allow this order, so streams and events never have to wait.
 *
 *   device/    the devices, their properties, errors, and what is not supported
 *   code/      kernels and variables: as the program registers them, and loading them
 *   stream/    streams, events, captures, and which operations CUDA orders, for racecheck
 *   graph/     graphs
 *   work/      carrying out the work of streams and graphs: launches, copies, fills
 *   memory/    allocations, of several processes, too; pools; symbols
 *   output/    the files that a run writes: reports, findings, the trace
 *   process/   several processes, and how the program ends: the reports are written before
 */
#ifndef CUDART_H
#define CUDART_H

#include "common/emu/emu.h"
#include "common/emu/command/settings.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

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
/* Sets the limits of cudaDeviceSetLimit to a GPU's defaults. (choose.c) */
void cudart_default_limits(struct device *);
/* One of a device's attributes; returns an error of CUDA. (properties.c) */
int cudart_attribute(enum cudaDeviceAttr, int device, int *value);
/* A kernel sets the value of a condition; returns an error of CUDA. (graph_exec.c) */
int cudart_set_condition(uint64_t handle, unsigned value);
/* What kernels ask of the runtime. (host_side.c) */
struct emu_host_side cudart_host_side(void);
/* Withdraws the device's permissions to access other devices' memory. (peer.c) */
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

/* ---- errors (error.c) ------------------------------------------------------------------------ */

/*
 * After a kernel's fault, calls that need the device fail until cudaDeviceReset. As on a GPU, where
 * the launch has returned before the fault, launches succeed until another call has failed.
 * These functions refer to the calling thread's device.
 */
void cudart_set_fault(cudaError_t);
/* Does the device have a fault, even if the program does not know it yet? Then later launches do
 * nothing. */
bool cudart_is_faulty(void);
void cudart_clear_fault(void);

/* Keeps an error for cudaGetLastError and returns it. */
cudaError_t cudart_done(int error);
/* Keeps and returns an error about a `pointer` that could not be freed. */
cudaError_t cudart_done_free(int error, const void *pointer);

/* Says, once for each feature, that it is not supported, why and what to do instead, and where the
 * program has called the runtime. Returns cudaErrorNotSupported. (refused.c) */
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

/* The first line of a runtime function. */
#define RETURN_IF_FAULTY()                                                                         \
    do {                                                                                           \
        cudaError_t refusal = cudart_refusal();                                                    \
        if (refusal != cudaSuccess) return refusal;                                                \
    } while (0)

/* The first line of a function that may wait for the device, which is not allowed while a stream is
 * captured. */
#define RETURN_IF_UNSAFE()                                                                         \
    do {                                                                                           \
        cudart_go_on(true);                                                                        \
        RETURN_IF_FAULTY();                                                                        \
        cudaError_t unsafe = cudart_check_unsafe();                                                \
        if (unsafe != cudaSuccess) return cudart_done(unsafe);                                     \
    } while (0)

/* Exit codes of the process when the emulator cannot go on: wrong EMU_* variables, or no device;
 * and when a kernel exceeds a budget or baseline. */
enum { EXIT_USAGE = 2, EXIT_DEVICE = 3, EXIT_EXCESS = 4 };

/* Ends the process at once, without a report; the program's output is flushed. */
_Noreturn void cudart_exit(int code);

/* Prints sentences on stderr, one per line, each behind "emu: ". */
void cudart_print(const char *sentences);

/* `nvcc -default-stream per-thread` calls f_ptsz or f_ptds for f. No stream ever has unfinished
 * work, so both kinds of default stream behave alike. */
#define ALSO_PTSZ(name) extern __typeof__(name) name##_ptsz __attribute__((alias(#name)))
#define ALSO_PTDS(name) extern __typeof__(name) name##_ptds __attribute__((alias(#name)))

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
/* The most bytes of dynamic shared memory that cudaFuncSetAttribute can allow it.
 * (occupancy.c) */
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

/* Finds the device address and size of the variable whose host shadow is at `host`. */
cudaError_t cudart_variable(const void *host, emu_addr *address, size_t *bytes);

/* Finds the address at `offset` of a variable. Fails unless `bytes` bytes from there lie inside it.
 * (symbol.c) */
cudaError_t cudart_locate(const void *host, size_t bytes, size_t offset, void **address);

/* For kernels that ask: emu_host_side.occupancy. (occupancy.c) */
int cudart_occupancy(const struct emu_gpu *, const struct emu_kernel *, int threads,
                     size_t dynamic_shared, int *blocks);

/* Unloads the device's code. The next use loads it again, with initialised variables. */
void cudart_unload(void);

/* ---- memory (device_memory.c, copy.c) -------------------------------------------------------- */

/* Frees everything that belongs to a context. */
void cudart_free_all(const struct context *);
/* Allocates host memory that all devices can access; NULL: out of memory. */
void *cudart_map_new(size_t bytes);
/* Lets all devices access host memory, and ends that. Returns an enum emu_error. */
int cudart_map(void *host, size_t bytes);
int cudart_unmap(void *host);

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

/* ---- files to write (paths.c) ---------------------------------------------------------------- */

/* The file that this process writes for a variable that names one, or NULL. Ends the process if the
 * file is this program, or any program or library. */
const char *cudart_output(enum setting_id);
/* Ends the process if two variables name the same file. */
void cudart_keep_apart(enum setting_id, enum setting_id other);
/* Ends the process if a file to write is a source file of a module. */
void cudart_keep_sources(const struct emu_module *);

/* ---- the trace (trace_file.c) ---------------------------------------------------------------- */

/* Ends the process if the file of EMU_TRACE cannot or must not be written. */
void cudart_check_trace(void);
/* Begins the file of EMU_TRACE; NULL if the variable is not set. An error ends the process. */
FILE *cudart_open_trace(void);
/* Completes the trace of a program that ends with this exit code. An error ends the process. */
void cudart_end_trace(int status);

/* ---- Ctrl-C (process_end.c) ------------------------------------------------------------------ */

enum { EXIT_INTERRUPTED = 130 };

/* Makes SIGINT print the reports and end the program with EXIT_INTERRUPTED, unless the program has
 * its own handler, and stops kernels at the signals of cudart_observe_end() (process.h). */
void cudart_catch_interrupt(void);
/* Makes signals that end the program first remove the trace's temporary file. Signals that the
 * program handles or ignores are left alone. */
void cudart_catch_end(void);
/* Called before and after each launch; `result` is the launch's result. */
void cudart_kernel_begins(void);
void cudart_kernel_ends(int result);

/* ---- long kernels (progress.c) --------------------------------------------------------------- */

void cudart_progress_settings(void);
/* From now on a line on stderr tells of kernels that run for long, if EMU_PROGRESS allows it. */
void cudart_progress_watch(void);
/* A kernel has ended: takes the line off the terminal. */
void cudart_progress_remove(void);

/* ---- the document of a run (output.c) -------------------------------------------------------- */

/* Reads which of its forms are asked for: tables of counters, and others. */
void cudart_tables_settings(void);
void cudart_document_settings(void);
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

#endif
