/* fetch_ahead.cuh — begins to fetch what a block will read, before its tile is known. */
#ifndef STEP12_FETCH_AHEAD_CUH
#define STEP12_FETCH_AHEAD_CUH

/* One lane prefetches into the L2 what a block will probably read, while the ticket is drawn. The
 * tile may be that of another block, which then finds it in the L2. Hopper and later. */
static __device__ void fetch_ahead(const void *from, size_t bytes)
{
#if __CUDA_ARCH__ >= 900
    unsigned whole = (unsigned)(bytes / 16 * 16);
    if (whole > 0)
        asm volatile(
            "cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)),
            "r"(whole)
            : "memory");
#else
    (void)from, (void)bytes;
#endif
}

#endif
