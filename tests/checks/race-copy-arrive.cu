/* race-copy-arrive.cu — a thread's asynchronous copies arrive at a barrier, but only those that it
 * began before. */
#include "bulk.h"
#include <cuda_pipeline.h>

template <bool right> __global__ void reverse(const int *in, int *out)
{
    __shared__ int words[256];
    __shared__ barrier full;
    make_barriers(&full, 1, 256);
    if (right) __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], 4);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(&full)));
    if (!right) __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], 4);
    barrier_wait(&full, 0);
    /* racecheck: RAW hazard at __shared__; racecheck: No wait for that copy */
    out[threadIdx.x] = words[255 - threadIdx.x];
    __pipeline_wait_prior(0);
}

PAIR(reverse<right>, 1, 256, numbers<int>(256), zeros<int>(256))
