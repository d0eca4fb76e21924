/*
 * barrier.cuh — barriers in shared memory that threads and copies arrive at (mbarrier), and the
 * copies (cp.async.bulk). PTX has no C for these, so each function is one instruction, or a loop
 * around one. Hopper and later.
 *
 * A barrier goes through phases. A phase ends when all expected arrivals and all expected bytes are
 * there; then the next one begins. A thread waits for the end of a phase by its parity: 0 for the
 * first phase, 1 for the second, 0 for the third, …
 */
#ifndef STEP12_BARRIER_CUH
#define STEP12_BARRIER_CUH

#include <stdint.h>

typedef uint64_t barrier;

/* PTX wants addresses in shared memory as offsets of 32 bits. */
static __device__ unsigned shared_address(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

static __device__ void barrier_init(barrier *b, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals)
                 : "memory");
}

/* Makes initialised barriers visible to the unit that copies. */
static __device__ void barrier_init_done(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ void barrier_arrive(barrier *b)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}

/* Arrives, and makes the phase also wait for `bytes` bytes. */
static __device__ void barrier_arrive_expect(barrier *b, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)),
                 "r"(bytes)
                 : "memory");
}

/* Is the phase of this parity over? Does not wait. */
static __device__ bool barrier_test(barrier *b, unsigned parity)
{
    unsigned done;
    asm volatile("{\n\t.reg .pred p;\n\t"
                 "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done)
                 : "r"(shared_address(b)), "r"(parity)
                 : "memory");
    return done;
}

static __device__ void barrier_wait(barrier *b, unsigned parity)
{
    unsigned done;
    do {
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(shared_address(b)), "r"(parity)
                     : "memory");
    } while (!done);
}

/* Begins to copy from device to shared memory: both addresses and bytes are multiples of 16. The
 * bytes arrive at b. */
static __device__ void bulk_load(void *to, const void *from, unsigned bytes, barrier *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(b))
                 : "memory");
}

/* ---- prefetching ----------------------------------------------------------------------------- */

/* One lane prefetches into the L2 what a block will probably read, while the ticket is drawn. The
 * tile may be that of another block, which then finds it in the L2. Hopper and later. */
[[maybe_unused]] static __device__ void fetch_ahead(const void *from, size_t bytes)
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
