/*
 * code_capability.cuh — for which compute capability is the code that a GPU runs?
 *
 * A GPU also runs code that was compiled for an older one: machine code of its own generation, or
 * PTX of any, from which the driver makes machine code. What such code has in it was decided by
 * __CUDA_ARCH__ when nvcc compiled it. So a kernel, and how it is launched, is chosen by the
 * capability of the code. That of the GPU may be higher. If a kernel's body differs by
 * __CUDA_ARCH__, the body that was left out is __trap(): it must not return as if it had worked.
 */
#ifndef CODE_CAPABILITY_CUH
#define CODE_CAPABILITY_CUH

#include <cuda_runtime.h>

#define CODE_DEVICES 64 /* with a higher number, the runtime is asked each time */

/* The kernel that the runtime is asked about. It has the code of this source file. */
static __global__ void code_of_this_file() {}

/* Sets *capability to __CUDA_ARCH__ / 10 of this source file's code for the current device: 90 for
 * 9.0. The runtime is asked once for each device, as that takes microseconds. It is allowed while a
 * stream is captured. */
static inline cudaError_t code_capability(int *capability)
{
    static int known[CODE_DEVICES]; /* 0: not asked yet. Other threads of the host ask, too */
    struct cudaFuncAttributes code;
    int device;
    cudaError_t error = cudaGetDevice(&device);
    if (error) return error;
    int *kept = device < CODE_DEVICES ? &known[device] : NULL;
    *capability = kept ? __atomic_load_n(kept, __ATOMIC_RELAXED) : 0;
    if (*capability > 0) return cudaSuccess;
    error = cudaFuncGetAttributes(&code, (const void *)code_of_this_file);
    if (error) return error;
    *capability = code.ptxVersion;
    if (kept) __atomic_store_n(kept, *capability, __ATOMIC_RELAXED);
    return cudaSuccess;
}

#endif
