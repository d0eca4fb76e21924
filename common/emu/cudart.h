/*
 * cudart.h — what the files of the runtime library share.
 *
 * The library has the names, types and error codes of NVIDIA's libcudart 13 and does its work
 * through emu.h. Everything is carried out inside the call: a kernel has ended, a copy is done,
 * when the function returns. That is one of the orders that streams allow, so streams and events
 * have nothing to wait for.
 *
 *   cudart_open.c       the device, opened from the EMU_* variables
 *   cudart_module.c     fat binaries, kernels and variables as the program registers them
 *   cudart_launch.c     launches
 *   cudart_memory.c     allocation;  cudart_copy.c  copies and fills;  cudart_symbol.c  variables
 *   cudart_device.c     properties and limits;  cudart_occupancy.c  kernels' attributes, occupancy
 *   cudart_stream.c     streams and events;  cudart_error.c  errors
 *   cudart_report.c     the counters that are printed when the program ends
 *   cudart_check.c      what the checkers have found
 */
#ifndef CUDART_H
#define CUDART_H

#include "emu.h"

#include <cuda_runtime_api.h>

/* ---- errors (cudart_error.c) ---------------------------------------------------------------- */

/*
 * A kernel's fault spoils the device until cudaDeviceReset. It stays unknown to the program until a
 * call that synchronises, as on a GPU, where the launch has returned long before.
 */
void cudart_set_fault(cudaError_t);
/* The fault, which is known from now on; cudaSuccess if there is none. */
cudaError_t cudart_fault(void);
/* Is there a fault, known or not? Later launches are then dropped. */
bool cudart_is_faulty(void);
void cudart_clear_fault(void);

/* Keeps an error for cudaGetLastError and returns it. */
cudaError_t cudart_done(int error);

/* The first line of a runtime function: a device with a fault answers nothing else. */
#define RETURN_IF_FAULTY()                                                                         \
    do {                                                                                           \
        if (cudart_fault() != cudaSuccess) return cudart_fault();                                  \
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

/* A kernel as registered. The program's cudaKernel_t is a pointer to it. */
struct function {
    const void *host; /* the address of its stub, by which the program knows it */
    const char *name; /* mangled */
    struct program *program;
    struct emu_kernel *kernel; /* NULL until first used */
    cudaError_t error;         /* why it cannot be used, once that is known */
    size_t max_dynamic_shared; /* bytes, as set by cudaFuncSetAttribute; 0: the default */
    struct function *next;
};

/* The function of a stub's address, or of a cudaKernel_t, loaded and ready to run. Otherwise
 * *function is NULL and the error says why; what the emulator has to say is printed once. */
cudaError_t cudart_function(const void *host, struct function **function);

/* The device address and size of the variable whose host shadow is at `host`. */
cudaError_t cudart_variable(const void *host, emu_addr *address, size_t *bytes);

/* The architecture of the PTX that a kernel was taken from: 90 for compute_90. */
unsigned cudart_ptx_arch(const struct function *);

/* Unloads all code; it is loaded again, its variables fresh, when next used. */
void cudart_unload(void);

/* ---- memory (cudart_memory.c, cudart_copy.c) ------------------------------------------------- */

/* Frees all that the program has allocated. */
void cudart_free_all(void);

/* Copies between any two places. */
int cudart_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);

/* ---- streams (cudart_stream.c) --------------------------------------------------------------- */

bool cudart_is_stream(cudaStream_t);
/* The number that ncu shows for a stream. */
unsigned long long cudart_stream_id(cudaStream_t);
/* Forgets all streams and events. */
void cudart_drop_streams(void);

/* ---- settings (cudart_open.c)
 * ----------------------------------------------------------------- */

/* The value of an EMU_* variable; NULL if it is not set, or set to nothing. */
const char *cudart_setting(const char *name);
/* Is it 1? Nothing and 0 are no; anything else is refused. */
bool cudart_switch(const char *name);
/* Ends the program with one sentence that says which values a variable takes. */
_Noreturn void cudart_refuse(const char *name, const char *value, const char *accepted);

/* ---- the report (cudart_report.c) ------------------------------------------------------------ */

/* Do the EMU_* variables ask for a report? The launches are counted then. */
bool cudart_report_wanted(void);

/* Runs `launch(context)`, and keeps what it counted for the report if one is wanted. */
int cudart_report_launch(int (*launch)(void *context), void *context, unsigned long long stream_id);

/* ---- the checkers (cudart_check.c) ----------------------------------------------------------- */

/* Puts into a device's settings which checkers the EMU_* variables ask for. */
void cudart_check_config(struct emu_config *);

/* Prints what has been found since the last call. */
void cudart_check_print(void);

#endif
