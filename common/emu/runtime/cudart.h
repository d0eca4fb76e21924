/*
 * cudart.h — what the files of the runtime library share.
 *
 * The library has the names, types and error codes of NVIDIA's libcudart 13 and does its work
 * through emu.h. Everything is carried out inside the call: a kernel has ended, a copy is done,
 * when the function returns. That is one of the orders that streams allow, so streams and events
 * have nothing to wait for.
 *
 *   cudart_open.c       the devices, opened from the EMU_* variables
 *   cudart_register.c   fat binaries, kernels and variables as the program registers them
 *   cudart_module.c     … and as they are loaded when first used
 *   cudart_work.c       work: what streams and graphs are made of, and how it is carried out
 *   cudart_launch.c     launches;  cudart_copy.c, cudart_fill.c, cudart_symbol.c  copies and fills
 *   cudart_graph*.c     graphs;  cudart_capture*.c  … made of what is put into streams
 *   cudart_handles.c    which handles live;  cudart_node_list.c  lists of nodes
 *   cudart_memory.c     allocation
 *   cudart_device.c     which device, its limits;  cudart_peer.c  several of them
 *   cudart_properties.c what a device says of itself;  cudart_occupancy.c  kernels' attributes, occupancy
 *   cudart_stream.c, cudart_event.c, cudart_object.c  streams and events;  cudart_error.c  errors
 *   cudart_report.c     the counters that are printed when the program ends;  cudart_trace.c
 *   cudart_check.c      what the checkers have found
 */
#ifndef CUDART_H
#define CUDART_H

#include "common/emu/emu.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* ---- devices (cudart_open.c) ----------------------------------------------------------------- */

enum { MAX_DEVICES = EMU_MAX_PEERS + 1, LIMITS = cudaLimitPersistingL2CacheSize + 1 };

struct device {
    int number;
    struct emu *emu;
    _Atomic int fault; /* of a kernel, which stays until cudaDeviceReset; cudaSuccess: none */
    atomic_bool fault_known;
    size_t limits[LIMITS];
    unsigned flags;
    bool peer_enabled[MAX_DEVICES]; /* cudaDeviceEnablePeerAccess */
    pthread_mutex_t report;         /* held by a launch that is counted */
    size_t printed;                 /* findings of the checkers, so far */
};

int cudart_device_count(void);
/* Device `number`, from 0 to count - 1. */
struct device *cudart_device_at(int number);
/* The calling thread's. emu_runtime() is its emulator. */
struct device *cudart_device(void);
/* Makes it the calling thread's; returns the number of the one that was. */
int cudart_use_device(int number);
/* Sets the limits of cudaDeviceSetLimit to a GPU's defaults. (cudart_device.c) */
void cudart_default_limits(struct device *);
/* Takes back the device's permissions to touch others' memory. (cudart_peer.c) */
void cudart_drop_peers(void);
/* The device whose memory an address is; NULL for addresses of the host. */
struct device *cudart_owner(const void *);

/* ---- errors (cudart_error.c) ---------------------------------------------------------------- */

/*
 * A kernel's fault spoils its device until cudaDeviceReset. It stays unknown to the program until a
 * call that synchronises, as on a GPU, where the launch has returned long before. These functions
 * mean the calling thread's device.
 */
void cudart_set_fault(cudaError_t);
/* Is there a fault, known or not? Later launches are then dropped. */
bool cudart_is_faulty(void);
void cudart_clear_fault(void);

/* Keeps an error for cudaGetLastError and returns it. */
cudaError_t cudart_done(int error);
/* The same, where `pointer` could not be freed. */
cudaError_t cudart_done_free(int error, const void *pointer);

/* Why a call is not carried out at all: the device's fault, or that a host function, which a stream
 * calls, has made it. */
cudaError_t cudart_refusal(void);
/* Does the calling thread run a host function of a stream? (cudart_work.c) */
bool cudart_in_host_function(void);

/* The first line of a runtime function. */
#define RETURN_IF_FAULTY()                                                                         \
    do {                                                                                           \
        cudaError_t refusal = cudart_refusal();                                                    \
        if (refusal != cudaSuccess) return refusal;                                                \
    } while (0)

/* That of a function which waits for the device or might: it may not while a stream is captured. */
#define RETURN_IF_UNSAFE()                                                                         \
    do {                                                                                           \
        RETURN_IF_FAULTY();                                                                        \
        cudaError_t unsafe = cudart_check_unsafe();                                                \
        if (unsafe != cudaSuccess) return cudart_done(unsafe);                                     \
    } while (0)

/* How the process ends when the emulator cannot go on: wrong EMU_* variables, or no device. */
enum { EXIT_USAGE = 2, EXIT_DEVICE = 3 };

/* Ends the process at once, without a report; what the program has printed is not lost. */
_Noreturn void cudart_exit(int code);

/* Prints the sentences, one a line, on stderr, each behind "emu: ". */
void cudart_print(const char *sentences);

/* `nvcc -default-stream per-thread` calls f_ptsz or f_ptds for f. Since no stream ever has work
 * waiting, the thread's own default stream is the same as everybody's. */
#define ALSO_PTSZ(name) extern __typeof__(name) name##_ptsz __attribute__((alias(#name)))
#define ALSO_PTDS(name) extern __typeof__(name) name##_ptds __attribute__((alias(#name)))

/* ---- kernels and variables (cudart_module.c) ------------------------------------------------ */

/* A kernel on one device. */
struct function {
    const char *name;          /* mangled */
    struct emu_kernel *kernel; /* NULL until first used */
    cudaError_t error;         /* why it cannot be used, once that is known */
    unsigned ptx_arch;         /* of the PTX that it was taken from: 90 for compute_90 */
    size_t max_dynamic_shared; /* bytes, as set by cudaFuncSetAttribute; 0: the default */
    bool large_clusters;       /* of more blocks than every GPU with clusters has; set likewise */
};

/* The function of a stub's address, or of a cudaKernel_t, loaded and ready to run on the calling
 * thread's device. Otherwise *function is NULL and the error says why; what the emulator has to say
 * is printed once. */
cudaError_t cudart_function(const void *host, struct function **function);

/* The device address and size of the variable whose host shadow is at `host`. */
cudaError_t cudart_variable(const void *host, emu_addr *address, size_t *bytes);

/* The address `offset` bytes into a variable that has room for `bytes` there. (cudart_symbol.c) */
cudaError_t cudart_locate(const void *host, size_t bytes, size_t offset, void **address);

/* Unloads the device's code; it is loaded again, its variables fresh, when next used. */
void cudart_unload(void);

/* ---- memory (cudart_memory.c, cudart_copy.c) ------------------------------------------------- */

/* Frees all that the program has allocated with this device as the current one. */
void cudart_free_all(void);
/* Host memory that all devices can reach; NULL if there is none. */
void *cudart_map_new(size_t bytes);
/* Makes host memory reachable for all devices, and takes it back. An enum emu_error. */
int cudart_map(void *host, size_t bytes);
int cudart_unmap(void *host);

/* Is all of [pointer, pointer+bytes) memory of one device, or of the host and mapped into all? */
bool cudart_is_reachable(const void *pointer, size_t bytes);

/* ---- streams (cudart_object.c) --------------------------------------------------------------- */

bool cudart_is_stream(cudaStream_t);
/* The number of its device: of a default stream the calling thread's. */
int cudart_stream_device(cudaStream_t);
/* The number that ncu shows for a stream. */
unsigned long long cudart_stream_id(cudaStream_t);
/* Forgets the device's streams and events. */
void cudart_drop_streams(void);

/* ---- settings (cudart_open.c)
 * ----------------------------------------------------------------- */

/* The value of an EMU_* variable; NULL if it is not set, or set to nothing. */
const char *cudart_setting(const char *name);
/* Is it 1? Nothing and 0 are no; anything else is refused. */
bool cudart_switch(const char *name);
/* The path in a variable that names a file to write, or NULL. Ends the process if the file is
 * this program, or any program or library. */
const char *cudart_output(const char *name);
/* Ends the process if two variables name the same file. */
void cudart_keep_apart(const char *name, const char *other);
/* Ends the program with one sentence that says which values a variable takes. */
_Noreturn void cudart_refuse(const char *name, const char *value, const char *accepted);

/* ---- the trace (cudart_trace.c) -------------------------------------------------------------- */

/* Ends the process if the file of EMU_TRACE cannot be written, or must not be. */
void cudart_check_trace(void);
/* Begins the file of EMU_TRACE; NULL if that is not set. What goes wrong ends the process. */
FILE *cudart_open_trace(void);
/* The trace is complete, and the program ends with this exit code. What goes wrong ends the
 * process. */
void cudart_end_trace(int status);

/* ---- Ctrl-C (cudart_interrupt.c) ------------------------------------------------------------- */

enum { EXIT_INTERRUPTED = 130 };

/* From now on SIGINT ends the program with EXIT_INTERRUPTED, after the reports, unless the program
 * has a handler of its own. */
void cudart_catch_interrupt(void);
/* From now on a signal that ends the program first removes the trace's temporary file,
 * unless the program has a handler of its own, or has set the signal aside. */
void cudart_catch_end(void);
/* Around each launch; `result` is what it gave. */
void cudart_kernel_begins(void);
void cudart_kernel_ends(int result);

/* ---- the report (cudart_report.c) ------------------------------------------------------------ */

/* Writes the report, once; otherwise that is done when the program ends. */
void cudart_report_write(void);
/* Do the EMU_* variables ask for a report? The launches are counted then. */
bool cudart_report_wanted(void);

/* Runs `launch(context)`, and keeps what it counted for the report if one is wanted. */
int cudart_report_launch(int (*launch)(void *context), void *context, unsigned long long stream_id);

/* ---- the checkers (cudart_check.c) ----------------------------------------------------------- */

/* Puts into a device's settings which checkers the EMU_* variables ask for. */
void cudart_check_config(struct emu_config *);

/* Prints what has been found since the last call. */
void cudart_check_print(void);
/* Prints the summary, once; otherwise that is done when the program ends. It may end the process. */
void cudart_check_end(void);

/* memcheck: the runtime function that the program is in returns an error. `pointer`: if it could
 * not be freed; else NULL. */
void cudart_check_api(cudaError_t, const void *pointer);
/* memcheck: reports what of the calling thread's device was not freed. */
void cudart_check_leaks(void);
/* A kernel has not come to its end. */
void cudart_check_failure(void);

#endif
