/* api-callback.cu — a host function that a stream calls must not call the runtime. */
#include "pair.h"

static int *out;

static void CUDART_CB clear(void *) { cudaMemset(out, 0, 4); } /* memcheck: cudaErrorNotPermitted */

static void CUDART_CB note(void *done) { *(int *)done = 1; }

HOST
{
    int done = 0;
    out = zeros<int>(64);
    cudaLaunchHostFunc(0, right ? note : clear, &done);
}
