/* cuda_check.h — macros that check a CUDA call or a launch. Every call and every launch is checked
 * with one of them. */
#ifndef CUDA_CHECK_H
#define CUDA_CHECK_H

#include "common/files/fault.h"

#include <cuda_runtime.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In a function that returns cudaError_t (a scan): returns an error to the caller. */
#define CUDA_TRY(call)                                                                             \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) return error_;                                                  \
    } while (0)

/* In a function that returns an exit code and has a `struct fault *`: explains an error and returns
 * EXIT_DEVICE. */
#define CUDA_CHECK(fault, call)                                                                    \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) return cuda_fault((fault), error_, #call);                      \
    } while (0)

/* Is the emulator the CUDA runtime of this program? */
bool cuda_emulated(void);

/* Fills the fault with the error text of CUDA (or the emulator) for the failed call. Returns
 * EXIT_DEVICE. */
int cuda_fault(struct fault *, cudaError_t error, const char *call);

#ifdef __cplusplus
}
#endif

#endif
