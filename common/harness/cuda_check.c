#include "cuda_check.h"

#include "common/harness/report/counters.h"

#include <string.h>

int cuda_fault(struct fault *fault, cudaError_t error, const char *call)
{
    /* "cudaMemcpy(to, from, …)" → "cudaMemcpy" */
    int name = (int)strcspn(call, "(");
    /* The emulator has already printed the kernel, the thread and the source line. */
    const char *where = counters_emulated() ? "; see the emulator's line above" : "";
    return fail(fault, EXIT_DEVICE, "%.*s failed: %s (%s)%s.", name, call,
                cudaGetErrorString(error), cudaGetErrorName(error), where);
}
