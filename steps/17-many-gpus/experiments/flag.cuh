/*
 * flag.cuh — words that say to another GPU that something is stored.
 */
#ifndef STEP17_FLAG_CUH
#define STEP17_FLAG_CUH

#include <stdint.h>

/* Release and acquire at the scope of the system: all GPUs and the CPU. What a thread has stored
 * before, and what threads of its block have stored before a barrier before, is seen by a thread
 * that acquires the flag, and by threads of its block after a barrier after. */
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
