/* api-host-function.cu — a function that a stream calls on the host calls CUDA itself. */
#include "pair.h"

static int *out;

/* The call is not the last thing that it does, so its frame stays. */
static void clear(void *calls)
{
    if (!calls) return;
    cudaError_t error = cudaMemset(out, 0, 64); /* memcheck: cudaErrorNotPermitted */
    if (!error) printf("cleared\n");
}

HOST
{
    static bool calls = true;
    out = zeros<int>(64);
    cudaLaunchHostFunc(0, clear, right ? nullptr : &calls);
}
