/* driver.h — what the files of the driver API share. */
#ifndef EMU_DRIVER_H
#define EMU_DRIVER_H

#include "cudart.h"
#include <cuda.h>

/* The driver API is libcuda.so.1, in whose place programs that emu starts get the emulator's
 * libcudart.so.13. Both APIs have one set of devices, primary contexts, memory, streams and
 * kernels. Most functions here call the runtime's function for the same work. Handles and device
 * addresses are the same in both: a CUstream is a cudaStream_t, and a CUfunction is what the
 * runtime takes as a kernel's address.
 *
 *   driver_init.c     cuInit, errors, functions by their names, devices, contexts, files of code
 *   driver_module.c   modules, libraries and their kernels; cuLink…; options of both
 *   driver_memory.c   memory, pools and pointers; copies and fills
 *   driver_launch.c   launches, occupancy; streams, events, captures and graphs
 *   driver_tensor.c   tensor maps
 *   driver_refused.c  all other functions */

/* A function of the driver API is one line, DRIVER(name, (parameters), work). The work returns a
 * cudaError_t or a CUresult as an int, and is done only if the driver is initialised and the thread
 * has a context. DRIVER_ANYWHERE: it needs no context; DRIVER_ALWAYS: nor the driver. */
#define DRIVER(name, parameters, work)                                                             \
    CUresult CUDAAPI name parameters                                                               \
    {                                                                                              \
        int refused = driver_begin(NEEDS_CONTEXT);                                                 \
        return driver_end(refused != CUDA_SUCCESS ? refused : (int)(work));                        \
    }
#define DRIVER_ANYWHERE(name, parameters, work)                                                    \
    CUresult CUDAAPI name parameters                                                               \
    {                                                                                              \
        int refused = driver_begin(NEEDS_DRIVER);                                                  \
        return driver_end(refused != CUDA_SUCCESS ? refused : (int)(work));                        \
    }
#define DRIVER_ALWAYS(name, parameters, work)                                                      \
    CUresult CUDAAPI name parameters                                                               \
    {                                                                                              \
        driver_begin(NEEDS_NOTHING);                                                               \
        return driver_end((int)(work));                                                            \
    }

/* Begins a function, and says why it must end at once. */
enum driver_need { NEEDS_NOTHING, NEEDS_DRIVER, NEEDS_CONTEXT };
int driver_begin(enum driver_need);
/* Ends it: turns the runtime's error into the driver's, and tells memcheck of it if no function of
 * the runtime has done that. */
CUresult driver_end(int error);

/* Functions with a second name (see ALSO_PTSZ). The name is expanded first: cuda.h makes
 * cuMemAlloc_v2 of cuMemAlloc. */
#define DRIVER_PTSZ(name, parameters, work) DRIVER(name, parameters, work) ALSO_PTSZ(name);
#define DRIVER_PTDS(name, parameters, work) DRIVER(name, parameters, work) ALSO_PTDS(name);
#define DRIVER_NOW_OR_IN_STREAM(name, work, ...)                                                   \
    DRIVER_PTDS(name, (__VA_ARGS__), WHEN(NULL, true, work))                                       \
    DRIVER_PTSZ(name##Async, (__VA_ARGS__, CUstream stream), WHEN(stream, false, work))

/* The context of a handle, if it lives; NULL: it is dead, or no handle. (driver_init.c) */
struct context *driver_context(CUcontext);
/* CUDA_ERROR_INVALID_VALUE for a device that does not exist, else the work's result. */
#define ON_DEVICE(number, work)                                                                    \
    (cudart_is_device(number) ? (int)(work) : CUDA_ERROR_INVALID_DEVICE)

static inline void *at(CUdeviceptr address) { return (void *)(uintptr_t)address; } /* NOLINT */

/* ---- driver_init.c: files of code ------------------------------------------------------------ */

/* Reads a file into memory that the caller frees, with a NUL behind it, which *bytes does not
 * count. NULL: it cannot be read. */
char *driver_read_file(const char *path, size_t *bytes);

#endif
