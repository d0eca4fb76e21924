/*
 * clock.cuh — the time, in kernels.
 */
#ifndef STEP17_CLOCK_CUH
#define STEP17_CLOCK_CUH

#include <stdint.h>

static __device__ uint64_t clock_ns(void)
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

#endif
