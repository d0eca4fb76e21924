#include "cuda_check.h"

#include "counters.h"

#include <stdio.h>
#include <string.h>

int cuda_fault(struct fault *fault, cudaError_t error, const char *call)
{
    /* The emulator knows kernel, thread and source line. */
    const char *detail = counters_message();
    /* "cudaMemcpy(to, from, …)" → "cudaMemcpy" */
    int name = (int)strcspn(call, "(");
    return fail(fault, EXIT_DEVICE, "%.*s failed: %s (%s)%s%.400s", name, call,
                cudaGetErrorString(error), cudaGetErrorName(error), *detail ? ": " : ".", detail);
}
