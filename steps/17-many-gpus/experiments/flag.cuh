/*
 * flag.cuh — flags in memory: one GPU sets a flag after its stores, another GPU polls it.
 */
#ifndef STEP17_FLAG_CUH
#define STEP17_FLAG_CUH

#include <stdint.h>

/* Release and acquire at the scope of the system: all GPUs and the CPU. A thread that finds the
 * flag also finds what the storing thread stored before it, and what its block stored before a
 * barrier. After a barrier this holds for the reader's whole block. */
static __device__ void set_flag(uint32_t *flag, uint32_t epoch)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(flag)),
                 "r"(epoch)
                 : "memory");
}

static __device__ uint32_t get_flag(const uint32_t *flag)
{
    uint32_t epoch;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                 : "=r"(epoch)
                 : "l"(__cvta_generic_to_global(flag))
                 : "memory");
    return epoch;
}

#endif
