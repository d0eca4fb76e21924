#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "cuda_check.h"

#include <dlfcn.h>
#include <string.h>

/* Only the emulator's runtime has this function (emu.h). */
bool cuda_emulated(void) { return dlsym(RTLD_DEFAULT, "emu_runtime") != NULL; }

int cuda_fault(struct fault *fault, cudaError_t error, const char *call)
{
    /* "cudaMemcpy(to, from, …)" → "cudaMemcpy" */
    int name = (int)strcspn(call, "(");
    /* The emulator has already printed the kernel, the thread and the source line. */
    const char *where = cuda_emulated() ? "; see the emulator's line above" : "";
    return fail(fault, EXIT_DEVICE, "%.*s failed: %s (%s)%s.", name, call,
                cudaGetErrorString(error), cudaGetErrorName(error), where);
}
