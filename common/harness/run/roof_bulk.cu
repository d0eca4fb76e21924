/*
 * roof_bulk.cu — a copy in bulk: stretches of memory through a ring of stages in shared memory.
 *
 * A thread that loads a float4 has to wait for it before it can store it, so a GPU needs thousands
 * of threads to keep the memory busy. Since compute capability 9.0 one thread can ask for a whole
 * stretch of memory at once (PTX: cp.async.bulk): a unit beside the cores fetches it into shared
 * memory, and another request writes it out. Nothing passes through registers.
 *
 * How much has to be under way? Bytes a second times seconds of latency: on an H200 some 4 TB/s
 * times 1 µs, 4 MB, which is about 32 KiB on each of its 132 SMs, and as much again for the stores.
 * Hence a ring of several stages: while one is being written out, the loads of the others are on
 * their way. A block does not end after a stretch but takes the next one ("persistent" blocks: no
 * more than fit on the GPU), because a block that begins has an empty ring.
 *
 * How do threads learn that a stage is full, and that it is empty again?
 * - Full: an mbarrier, 64 bits in shared memory. It counts arrivals of threads (here one) and bytes
 *   that are still to come. When both are done its phase ends: 0, then 1, then 0 … A waiting thread
 *   asks for the end of the phase that it knows to be the next, so it needs the parity only.
 * - Empty: stores are committed in groups, and a thread waits until all but the newest k groups
 *   have *read* their stage. (That the bytes have reached memory is another, later event.)
 *
 * Step 12 scans with the same ring. There, threads also work on a stage between load and store.
 */
#include "common/step/cuda_check.h"
#include "common/step/launch_kernel.cuh"
#include "device.h"

#include <stdint.h>

#define STAGES       6          /* of a block's ring */
#define STAGE_BYTES  (16 << 10) /* with two blocks an SM: 192 of its 228 KiB */
#define BLOCKS_AN_SM 2
#define RING_BYTES   (STAGES * STAGE_BYTES)
#define CAPABILITY   90 /* 9.0, the first compute capability that has bulk copies */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

/* PTX takes addresses in shared memory as 32 bits. */
static __device__ unsigned shared_address(const void *pointer)
{
    return (unsigned)__cvta_generic_to_shared(pointer);
}

static __device__ void barrier_make(uint64_t *barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)));
}

/* Begins to load `bytes` bytes (a multiple of 16), and makes the barrier expect them. */
static __device__ void load(void *stage, const char *from, unsigned bytes, uint64_t *full)
{
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(full)),
        "r"(bytes)
        : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(shared_address(stage)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(full))
                 : "memory");
}

/* Waits for the end of the phase with this parity. The instruction waits for a while, and says
 * whether the phase has ended. */
static __device__ void barrier_wait(uint64_t *barrier, unsigned parity)
{
    unsigned ended;
    do
        asm volatile("{ .reg .pred p;"
                     " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;"
                     " selp.u32 %0, 1, 0, p; }"
                     : "=r"(ended)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    while (!ended);
}

/* Begins to store a stage, in a group of its own. */
static __device__ void store(char *to, const void *stage, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     __cvta_generic_to_global(to)),
                 "r"(shared_address(stage)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Block b copies stretches b, b + gridDim.x, b + 2 gridDim.x … of STAGE_BYTES bytes; the last one
 * may be shorter. One thread a block. */
static __global__ void copy_bulk(char *to, const char *from, size_t bytes)
{
    extern __shared__ __align__(128) char ring[];
    __shared__ uint64_t full[STAGES];
    size_t stretches = (bytes + STAGE_BYTES - 1) / STAGE_BYTES;
    size_t mine = blockIdx.x < stretches ? (stretches - 1 - blockIdx.x) / gridDim.x + 1 : 0;
    size_t asked = 0; /* number of this block's stretches that are loaded or being loaded */

    for (int stage = 0; stage < STAGES; stage++) barrier_make(&full[stage]);
    /* The unit that copies has its own path to memory ("async proxy"). The fence makes sure that it
     * sees the barriers as initialised. */
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");

    for (size_t turn = 0; turn < mine; turn++) {
        /* One stage fewer than there are is being loaded, because the previous store may still be
         * reading the other stage. */
        for (; asked < mine && asked < turn + STAGES - 1; asked++) {
            size_t at = (blockIdx.x + asked * gridDim.x) * STAGE_BYTES;
            size_t rest = bytes - at < STAGE_BYTES ? bytes - at : STAGE_BYTES;
            int stage = (int)(asked % STAGES);
            load(ring + stage * STAGE_BYTES, from + at, (unsigned)rest, &full[stage]);
        }

        size_t at = (blockIdx.x + turn * gridDim.x) * STAGE_BYTES;
        size_t rest = bytes - at < STAGE_BYTES ? bytes - at : STAGE_BYTES;
        int stage = (int)(turn % STAGES);
        barrier_wait(&full[stage], turn / STAGES % 2);
        store(to + at, ring + stage * STAGE_BYTES, (unsigned)rest);

        /* The next iteration loads into the stage of the previous store, which must have read
         * it. */
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    }

    /* When a block ends, its shared memory is given away, so every store must have read it. */
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#else
static __global__ void copy_bulk(char *, const char *, size_t) { __trap(); }
#endif

/* The number of resident blocks. 0: the code for this GPU has no bulk copies. */
static cudaError_t resident_blocks(unsigned *blocks)
{
    struct cudaFuncAttributes code;
    int device, sms;
    *blocks = 0;
    CUDA_TRY(cudaGetDevice(&device));
    CUDA_TRY(cudaFuncGetAttributes(&code, (const void *)copy_bulk));
    CUDA_TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    if (code.ptxVersion < CAPABILITY) return cudaSuccess;
    *blocks = (unsigned)sms * BLOCKS_AN_SM;
    return cudaFuncSetAttribute(copy_bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, RING_BYTES);
}

extern "C" cudaError_t roof_copy_bulk(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    size_t whole = bytes / ROOF_ALIGNMENT * ROOF_ALIGNMENT;
    size_t stretches = (whole + STAGE_BYTES - 1) / STAGE_BYTES;
    unsigned blocks;
    CUDA_TRY(resident_blocks(&blocks));
    if (blocks == 0) return roof_copy_kernel(to, from, bytes, stream);
    if (((uintptr_t)to | (uintptr_t)from) % ROOF_ALIGNMENT) return cudaErrorMisalignedAddress;
    if (blocks > stretches) blocks = (unsigned)stretches;
    if (blocks)
        CUDA_TRY(launch_kernel(copy_bulk, blocks, 1, RING_BYTES, stream, (char *)to,
                               (const char *)from, whole));
    return roof_copy_rest(to, from, whole, bytes, stream);
}
