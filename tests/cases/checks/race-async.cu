/* race-async.cu — pairs: hazards with barriers in shared memory, asynchronous copies and tensor
 * cores. pair.h says how a pair is written. */
#include "bulk.h"
#include "matrix.cuh"
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

/* race-arrival — one lane arrives at a barrier for its warp: it must see the others' stores before
 * it arrives. No copy takes part. */
template <bool right> __global__ void race_arrival(int *out)
{
    __shared__ int words[32];
    __shared__ barrier full;
    int lane = threadIdx.x % 32;
    make_barriers(&full, 1, 1);
    if (threadIdx.x < 32) {
        words[lane] = lane;
        if (right) __syncwarp();
        if (lane == 0) barrier_arrive(&full);
    } else {
        barrier_wait(&full, 0);
        /* racecheck: RAW hazard at __shared__; racecheck: __syncthreads() */
        out[lane] = words[lane];
    }
}
PAIR(race_arrival<right>, 1, 64, zeros<int>(32))

/* race-arrival-early — stores after an arrival are not ordered before the threads that wait for
 * it. */
template <bool right> __global__ void race_arrival_early(int *data)
{
    __shared__ int word;
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) {
        if (right) word = data[1];
        barrier_arrive(&full);
        if (!right)
            word = data[1]; /* racecheck: hazard at __shared__; racecheck: __syncthreads() */
    } else if (threadIdx.x == 32) {
        barrier_wait(&full, 0);
        data[0] = word;
    }
}
PAIR(race_arrival_early<right>, 1, 64, numbers<int>(2))

/* race-arrival-parity — one warp waits at a barrier for another one. A test for the phase before
 * the first one, which counts as over, orders nothing. */
template <bool right> __global__ void race_arrival_parity(int *out)
{
    __shared__ int words[32];
    __shared__ barrier full;
    int lane = threadIdx.x % 32;
    make_barriers(&full, 1, 1);
    if (threadIdx.x < 32) {
        words[lane] = lane;
        __syncwarp();
        if (lane == 0) barrier_arrive(&full);
    } else {
        if (right)
            barrier_wait(&full, 0);
        else
            (void)barrier_test(&full, 1);
        /* racecheck: hazard at __shared__; racecheck: __syncthreads(); initcheck: Uninitialized */
        out[lane] = words[lane];
    }
}
PAIR(race_arrival_parity<right>, 1, 64, zeros<int>(32))

/* race-arrival-relaxed — an arrival that releases nothing is enough after a fence. */
template <bool right> __global__ void race_arrival_relaxed(int *data)
{
    __shared__ int word;
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) {
        word = data[1];
        if (right) __threadfence_block();
        asm volatile(
            "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(&full))
            : "memory");
    } else if (threadIdx.x == 32) {
        barrier_wait(&full, 0);
        data[0] = word; /* racecheck: RAW hazard at __shared__; racecheck: __syncthreads() */
    }
}
PAIR(race_arrival_relaxed<right>, 1, 64, numbers<int>(2))

/* race-arrival-wait — one warp arrives at a barrier after its stores. The other one must wait there
 * before it loads. */
template <bool right> __global__ void race_arrival_wait(int *out)
{
    __shared__ int words[32];
    __shared__ barrier full;
    int lane = threadIdx.x % 32;
    make_barriers(&full, 1, 1);
    if (threadIdx.x < 32) {
        words[lane] = lane;
        __syncwarp();
        if (lane == 0) barrier_arrive(&full);
    } else {
        if (right) barrier_wait(&full, 0);
        /* racecheck: hazard at __shared__; racecheck: __syncthreads(); initcheck: Uninitialized */
        out[lane] = words[lane];
    }
}
PAIR(race_arrival_wait<right>, 1, 64, zeros<int>(32))

/* race-barrier-made — one thread initialises a barrier. Another one may use it only after that: a
 * flag needs a fence. */
template <bool right> __global__ void race_barrier_made(int *out)
{
    __shared__ barrier full;
    __shared__ volatile int made;
    made = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        if (right) __threadfence_block();
        made = 1;
        barrier_wait(&full, 0);
    } else if (threadIdx.x == 32) {
        while (!made) continue;
        /* racecheck: WAW hazard at __shared__ in barrier.cuh; strict readers: hazard */
        barrier_arrive(&full);
    }
    out[threadIdx.x] = 1;
}
PAIR(race_barrier_made<right>, 1, 64, zeros<int>(64))

/* race-bulk — a bulk copy to shared memory: readers must wait at the barrier of its bytes. */
template <bool right> __global__ void race_bulk(int *out, const int *in)
{
    __shared__ __align__(16) int words[128];
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) bulk_fetch(words, in, sizeof words, &full);
    if (right) barrier_wait(&full, 0);
    /* racecheck: hazard at __shared__; racecheck: No wait for that copy */
    out[threadIdx.x] = words[threadIdx.x];
    if (!right) barrier_wait(&full, 0); // the block may not end before its copy
}
PAIR(race_bulk<right>, 1, 128, zeros<int>(128), zeros<int>(128))

/* race-bulk-ask — to test whether a copy is over, and to ignore the answer, is no wait. */
template <bool right> __global__ void race_bulk_ask(const int *in, int *out)
{
    __shared__ __align__(16) int words[256];
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) bulk_fetch(words, in, sizeof words, &full);
    if (right)
        barrier_wait(&full, 0);
    else
        (void)barrier_test(&full, 1);
    /* racecheck: hazard at __shared__; racecheck: No wait for that; initcheck: Uninitialized */
    out[threadIdx.x] = words[255 - threadIdx.x];
    barrier_wait(&full, 0);
}
PAIR(race_bulk_ask<right>, 1, 256, numbers<int>(256), zeros<int>(256))

/* race-bulk-barrier — two bulk copies, each with a barrier: the end of one does not imply the end
 * of the other. */
template <bool right> __global__ void race_bulk_barrier(int *out, const int *in)
{
    __shared__ __align__(16) int words[2][128];
    __shared__ barrier full[2];
    make_barriers(full, 2, 1);
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++) bulk_fetch(words[i], in, sizeof words[i], &full[i]);
    barrier_wait(&full[right ? 0 : 1], 0);
    /* racecheck: RAW hazard at __shared__; racecheck: No wait for that copy */
    out[threadIdx.x] = words[0][threadIdx.x];
    barrier_wait(&full[right ? 1 : 0], 0);
}
PAIR(race_bulk_barrier<right>, 1, 128, zeros<int>(128), zeros<int>(128))

/* race-bulk-fence — a bulk copy out of shared memory need not see what threads have stored there,
 * unless each has executed a fence for asynchronous copies. */
template <bool right> __global__ void race_bulk_fence(int *out)
{
    __shared__ __align__(16) int words[128];
    /* racecheck: RAW hazard at __shared__; racecheck: fence.proxy.async */
    words[threadIdx.x] = threadIdx.x;
    if (right) proxy_fence();
    __syncthreads();
    if (threadIdx.x > 0) return;
    bulk_store(out, words, sizeof words);
    bulk_wait<0>();
}
PAIR(race_bulk_fence<right>, 1, 128, zeros<int>(128))

/* race-bulk-fence-arrival — each thread executes a fence for asynchronous copies, and then arrives
 * at the barrier where one thread waits and copies. */
template <bool right> __global__ void race_bulk_fence_arrival(int *out)
{
    __shared__ __align__(16) int words[256];
    __shared__ barrier full;
    make_barriers(&full, 1, 256);
    /* racecheck: RAW hazard at __shared__; racecheck: fence.proxy */
    words[threadIdx.x] = threadIdx.x;
    if (right) proxy_fence();
    barrier_arrive(&full);
    if (threadIdx.x > 0) return;
    barrier_wait(&full, 0);
    bulk_store(out, words, sizeof words);
    bulk_wait<0>();
}
PAIR(race_bulk_fence_arrival<right>, 1, 256, zeros<int>(256))

/* race-bulk-fence-one — one thread executes the fence for asynchronous copies for all, behind the
 * barrier. */
template <bool right> __global__ void race_bulk_fence_one(int *out)
{
    __shared__ __align__(16) int words[256];
    /* racecheck: RAW hazard at __shared__; racecheck: fence.proxy */
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x > 0) return;
    if (right) proxy_fence();
    bulk_store(out, words, sizeof words);
    bulk_wait<0>();
}
PAIR(race_bulk_fence_one<right>, 1, 256, zeros<int>(256))

/* race-bulk-halo — blocks copy their tiles with a word of the next tile, and store their results in
 * place. */
template <bool right> __global__ void race_bulk_halo(int *data, int *out)
{
    __shared__ __align__(16) int words[68];
    __shared__ barrier full;
    int first = blockIdx.x * 64;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) bulk_fetch(words, data + first, sizeof words, &full);
    barrier_wait(&full, 0);
    int sum = words[threadIdx.x] + words[threadIdx.x + 1];
    (right ? out : data)[first + threadIdx.x] = sum; /* racecheck: hazard at __global__ */
}
PAIR(race_bulk_halo<right>, 4, 64, numbers<int>(260), zeros<int>(256))

/* race-bulk-one — one thread waits for a bulk copy. The others must wait for that thread. */
template <bool right> __global__ void race_bulk_one(const int *in, int *out)
{
    __shared__ __align__(16) int words[256];
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) {
        bulk_fetch(words, in, sizeof words, &full);
        barrier_wait(&full, 0);
    }
    if (right) __syncthreads();
    /* racecheck: hazard at __shared__; initcheck: Uninitialized */
    out[threadIdx.x] = words[threadIdx.x];
}
PAIR(race_bulk_one<right>, 1, 256, numbers<int>(256), zeros<int>(256))

/* race-bulk-over — a bulk copy overwrites words that threads have read: it may begin only behind a
 * barrier. */
template <bool right> __global__ void race_bulk_over(const int *in, int *out)
{
    __shared__ __align__(16) int words[256];
    __shared__ barrier full;
    words[threadIdx.x] = 0;
    make_barriers(&full, 1, 1);
    out[threadIdx.x] = words[threadIdx.x];
    if (right) __syncthreads();
    /* racecheck: hazard at __shared__ in barrier.cuh */
    if (threadIdx.x == 0) bulk_fetch(words, in, sizeof words, &full);
    barrier_wait(&full, 0);
    out[threadIdx.x] += words[threadIdx.x];
}
PAIR(race_bulk_over<right>, 1, 256, numbers<int>(256), zeros<int>(256))

/* race-bulk-parity — a thread that waits for a bulk copy by the wrong parity does not wait: the
 * phase before the first one counts as over. */
template <bool right> __global__ void race_bulk_parity(int *out, const int *in)
{
    enum { READERS = 96 };
    __shared__ __align__(16) int words[READERS];
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    if (threadIdx.x >= 32) {
        barrier_wait(&full, right ? 0 : 1);
        out[threadIdx.x - 32] = words[threadIdx.x - 32];
    } else if (threadIdx.x == 0) {
        bulk_fetch(words, in, sizeof words, &full);
        barrier_wait(&full, 0);
        if (!right) barrier_arrive(&full); // late threads must not wait for ever
    }
}
PAIR(race_bulk_parity<right>, 1, 128, zeros<int>(96), zeros<int>(96))

/* race-bulk-store — a bulk copy to global memory reads its source at any time until
 * cp.async.bulk.wait_group.read has returned: threads may not store to the source before that. */
template <bool right> __global__ void race_bulk_store(int *out)
{
    __shared__ __align__(16) int words[128];
    words[threadIdx.x] = threadIdx.x;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out, words, sizeof words);
        if (right) bulk_wait_read();
    }
    __syncthreads();
    /* racecheck: WAR hazard at __shared__; racecheck: No wait for that copy */
    words[threadIdx.x] = 0;
    out[128 + threadIdx.x] = words[threadIdx.x];
}
PAIR(race_bulk_store<right>, 1, 128, zeros<int>(256))

/* race-bulk-store-written — two bulk copies to global memory. The first has read its source before
 * that is written again; its target may be read only when the copy is over. */
template <bool right> __global__ void race_bulk_store_written(int *data, int *out)
{
    __shared__ __align__(16) int words[256];
    words[threadIdx.x] = data[threadIdx.x];
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out, words, sizeof words);
        bulk_wait_read();
    }
    __syncthreads();
    words[threadIdx.x] = 0;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out + 256, words, sizeof words);
        if (right) bulk_wait<1>();
    }
    __syncthreads();
    /* racecheck: RAW hazard at __global__; racecheck: No wait for that copy */
    data[threadIdx.x] = out[threadIdx.x];
}
PAIR(race_bulk_store_written<right>, 1, 256, numbers<int>(256), zeros<int>(512))

/* race-bulk-sums — each block adds its bins to the sums by a bulk copy. The last block may read the
 * sums only if all copies are over, and not only have read their bins. */
template <bool right> __global__ void race_bulk_sums(int *sums, int *tickets, int *out)
{
    __shared__ __align__(16) int bins[64];
    __shared__ int ticket;
    bins[threadIdx.x] = blockIdx.x;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_add(sums, bins, sizeof bins);
        right ? bulk_wait<0>() : bulk_wait_read();
        __threadfence();
        ticket = atomicAdd(tickets, 1);
        __threadfence();
    }
    __syncthreads();
    /* racecheck: RAW hazard at __global__; racecheck: No wait for that copy */
    if (ticket == gridDim.x - 1) out[threadIdx.x] = sums[threadIdx.x];
}
PAIR(race_bulk_sums<right>, 8, 64, zeros<int>(64), zeros<int>(1), zeros<int>(64))

/* race-copy-arrive — a thread's asynchronous copies arrive at a barrier, but only those that it
 * began before. */
template <bool right> __global__ void race_copy_arrive(const int *in, int *out)
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
PAIR(race_copy_arrive<right>, 1, 256, numbers<int>(256), zeros<int>(256))

/* race-copy-barrier — each thread waits for its own copies. The others' words also need a
 * barrier. */
template <bool right> __global__ void race_copy_barrier(const int *in, int *out)
{
    __shared__ int words[256];
    __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    if (right) __syncthreads();
    /* racecheck: hazard at __shared__; initcheck: Uninitialized */
    out[threadIdx.x] = words[255 - threadIdx.x];
}
PAIR(race_copy_barrier<right>, 1, 256, numbers<int>(256), zeros<int>(256))

/* race-copy-first — asynchronous copies in two groups. A thread that needs the first group may
 * leave the second under way, but not both. */
template <bool right> __global__ void race_copy_first(const int *in, int *out)
{
    __shared__ int words[2][256];
    for (int group = 0; group < 2; group++) {
        __pipeline_memcpy_async(&words[group][threadIdx.x], &in[group * 256 + threadIdx.x], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(right ? 1 : 2);
    __syncthreads();
    /* racecheck: RAW hazard at __shared__; racecheck: No wait for that copy */
    out[threadIdx.x] = words[0][255 - threadIdx.x];
    __pipeline_wait_prior(0);
}
PAIR(race_copy_first<right>, 1, 256, numbers<int>(512), zeros<int>(256))

/* race-copy-group — asynchronous copies of single words: __syncthreads() does not wait for them.
 * Each thread must wait for its own before. */
template <bool right> __global__ void race_copy_group(int *out, const int *in)
{
    __shared__ int words[128];
    __pipeline_memcpy_async(&words[threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    if (right) __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = words[127 - threadIdx.x];
    __pipeline_wait_prior(0);
}
PAIR(race_copy_group<right>, 1, 128, zeros<int>(128), zeros<int>(128))

/* race-copy-wait — asynchronous copies in two groups. A thread that needs the second group must
 * wait for both. */
template <bool right> __global__ void race_copy_wait(int *out, const int *in)
{
    __shared__ int words[2][128];
    for (int group = 0; group < 2; group++) {
        __pipeline_memcpy_async(&words[group][threadIdx.x], &in[threadIdx.x], sizeof(int));
        __pipeline_commit();
    }
    __pipeline_wait_prior(right ? 0 : 1);
    __syncthreads();
    out[threadIdx.x] = words[1][127 - threadIdx.x];
    __pipeline_wait_prior(0);
}
PAIR(race_copy_wait<right>, 1, 128, zeros<int>(128), zeros<int>(128))

/* race-inval — an mbarrier may be invalidated only after its last use. */
static __device__ void invalidate(barrier *b)
{
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(b)) : "memory");
}
template <bool right> __global__ void race_inval(int *out)
{
    __shared__ barrier all;
    make_barriers(&all, 1, 64);
    barrier_arrive(&all);
    barrier_wait(&all, 0);
    if (right) __syncthreads();
    if (threadIdx.x == 63) invalidate(&all);
    out[threadIdx.x] = threadIdx.x;
}
PAIR(race_inval<right>, 1, 64, zeros<int>(64))

/* race-ldmatrix — a block fills a tile, and each warp loads all of it into fragments. */
template <bool right> __global__ void race_ldmatrix(int *out, const __half *in)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4];
    ((uint2 *)tile)[threadIdx.x] = ((const uint2 *)in)[threadIdx.x];
    if (right) __syncthreads();
    /* racecheck: Race reported; initcheck: Uninitialized __shared__ */
    LOAD_MATRICES(a, &tile[own_row()]);
    put(out, a);
}
PAIR(race_ldmatrix<right>, 1, 64, zeros<int>(256), zeros<__half>(TILE))

/* race-ldmatrix-copy — asynchronous copies fill a tile. A barrier does not wait for them. */
template <bool right> __global__ void race_ldmatrix_copy(int *out, const __half *in)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4];
    __pipeline_memcpy_async((uint2 *)tile + threadIdx.x, (const uint2 *)in + threadIdx.x,
                            sizeof(uint2));
    __pipeline_commit();
    if (right) __pipeline_wait_prior(0);
    __syncthreads();
    LOAD_MATRICES(a, &tile[own_row()]); /* racecheck: Race reported */
    put(out, a);
    __pipeline_wait_prior(0);
}
PAIR(race_ldmatrix_copy<right>, 1, 64, zeros<int>(256), zeros<__half>(TILE))

/* race-ldmatrix-next — a loop over tiles: the next one overwrites what other warps still load. */
template <bool right> __global__ void race_ldmatrix_next(int *out, const __half *in)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4], sum[4] = {0};
    for (int k = 0; k < 4; k++) {
        /* racecheck: Race reported */
        ((uint2 *)tile)[threadIdx.x] = ((const uint2 *)(in + k * TILE))[threadIdx.x];
        __syncthreads();
        LOAD_MATRICES(a, &tile[own_row()]);
        for (int i = 0; i < 4; i++) sum[i] ^= a[i];
        if (right) __syncthreads();
    }
    put(out, sum);
}
PAIR(race_ldmatrix_next<right>, 1, 64, zeros<int>(256), zeros<__half>(4 * TILE))

/* race-ldmatrix-row — a lane stores a row, and gives the address of this row to ldmatrix. But the
 * elements go to the registers of other lanes. */
template <bool right> __global__ void race_ldmatrix_row(int *out, const __half *in)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4];
    *(uint4 *)&tile[own_row()] = *(const uint4 *)&in[own_row()];
    if (right) __syncwarp();
    LOAD_MATRICES(a, &tile[own_row()]); /* racecheck: Race reported */
    put(out, a);
}
PAIR(race_ldmatrix_row<right>, 1, 32, zeros<int>(128), zeros<__half>(TILE))

/* The block comes to a barrier, and copies words by a bulk copy. */
static __device__ void fetch_words(const int *from, int *out)
{
    __shared__ __align__(16) int words[64];
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    if (threadIdx.x == 0) bulk_fetch(words, from, sizeof words, &full);
    barrier_wait(&full, 0);
    out[threadIdx.x] = words[threadIdx.x];
}

/* race-proxy-atomic — a bulk copy loads what atomics have made. A barrier is not enough for it. */
template <bool right> __global__ void race_proxy_atomic(int *bins, int *out)
{
    atomicAdd(&bins[threadIdx.x / 2], 1); /* racecheck: hazard at __global__; racecheck: fence.p */
    if (right) proxy_fence_global();
    fetch_words(bins, out);
}
PAIR(race_proxy_atomic<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* race-proxy-copied — what one bulk copy has stored, another loads: no fence is needed between two
 * copies, but the first must be over, and not only have read its source. */
template <bool right> __global__ void race_proxy_copied(int *data, int *out)
{
    __shared__ __align__(16) int words[2][64];
    __shared__ barrier full;
    make_barriers(&full, 1, 1);
    words[0][threadIdx.x] = threadIdx.x;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(data, words[0], sizeof words[0]);
        right ? bulk_wait<0>() : bulk_wait_read();
        /* racecheck: RAW hazard at __global__ in barrier.cuh; racecheck: for that copy (no line) */
        bulk_fetch(words[1], data, sizeof words[1], &full);
    }
    barrier_wait(&full, 0);
    out[threadIdx.x] = words[1][threadIdx.x] + (right ? data[threadIdx.x] : 0);
}
PAIR(race_proxy_copied<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* race-proxy-flag — a block stores words, and sets a flag behind a fence. The other block loads the
 * words by a bulk copy: it needs a fence for copies, too, which it may execute itself. */
template <bool right> __global__ void race_proxy_flag(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x; /* racecheck: RAW hazard; racecheck: fence.proxy.async */
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(flag, 1);
        return;
    }
    while (threadIdx.x == 0 && atomicAdd(flag, 0) == 0) {}
    __threadfence();
    if (right) proxy_fence_global();
    fetch_words(data, out);
}
PAIR(race_proxy_flag<right>, 2, 64, zeros<int>(64), zeros<int>(1), zeros<int>(64))

/* race-proxy-grid — each block copies what the next one has stored before a barrier of the grid.
 * One thread executes the fence for its block, and the others must have stored before. */
template <bool right> __global__ void race_proxy_grid(int *data, int *out)
{
    int own = blockIdx.x * 64, next = (blockIdx.x + 1) % gridDim.x * 64;
    /* racecheck: RAW hazard at __global__; racecheck: fence.proxy.async */
    data[own + threadIdx.x] = threadIdx.x;
    if (right) __syncthreads();
    if (threadIdx.x == 0) proxy_fence_global();
    cooperative_groups::this_grid().sync();
    fetch_words(data + next, out + own);
}
COOPERATIVE(race_proxy_grid<right>, 4, 64, zeros<int>(256), zeros<int>(256))

/* race-proxy-late — a thread that waits for a flag executes the fence for copies before it has seen
 * the flag. */
template <bool right> __global__ void race_proxy_late(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x; /* racecheck: RAW hazard; racecheck: fence.proxy.async */
        __syncthreads();
        if (threadIdx.x > 0) return;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        if (!right) proxy_fence_global();
        while (threadIdx.x == 0 && atomicAdd(flag, 0) == 0) continue;
        __threadfence();
        if (right) proxy_fence_global();
        fetch_words(data, out);
    }
}
PAIR(race_proxy_late<right>, 2, 64, zeros<int>(64), zeros<int>(1), zeros<int>(64))

/* race-proxy-load — threads store words to global memory, and a bulk copy loads them. */
template <bool right> __global__ void race_proxy_load(int *data, int *out)
{
    data[threadIdx.x] = threadIdx.x; /* racecheck: RAW hazard at __global__; racecheck: fence.p */
    if (right) asm volatile("fence.proxy.async;" ::: "memory");
    fetch_words(data, out);
}
PAIR(race_proxy_load<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* race-proxy-loop — a block copies its tile, stores the results in place, and copies them in the
 * next round. */
template <bool right> __global__ void race_proxy_loop(int *data)
{
    __shared__ __align__(16) int words[64];
    __shared__ barrier full;
    int *own = data + blockIdx.x * 64;
    make_barriers(&full, 1, 1);
    for (int round = 0; round < 3; round++) {
        if (threadIdx.x == 0) bulk_fetch(words, own, sizeof words, &full);
        barrier_wait(&full, round % 2);
        /* racecheck: RAW hazard at __global__; racecheck: fence.proxy.async */
        own[threadIdx.x] = words[threadIdx.x ^ 1] + 1;
        if (right) asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
    }
}
PAIR(race_proxy_loop<right>, 2, 64, numbers<int>(128))

/* race-proxy-read — a bulk copy stores where threads have loaded: that takes a barrier, and no
 * fence for copies. */
template <bool right> __global__ void race_proxy_read(int *data)
{
    __shared__ __align__(16) int words[64];
    words[threadIdx.x] = 2 * data[63 - threadIdx.x]; /* racecheck: hazard at __global__ */
    proxy_fence();
    right ? __syncthreads() : __syncwarp();
    if (threadIdx.x == 0) bulk_store(data, words, 128);
    bulk_wait<0>();
}
PAIR(race_proxy_read<right>, 1, 64, numbers<int>(64))

/* race-proxy-reduce — threads set a sum to 0, and bulk copies add to it. */
template <bool right> __global__ void race_proxy_reduce(int *sums)
{
    __shared__ __align__(16) int words[64];
    sums[threadIdx.x] = 0; /* racecheck: RAW hazard at __global__; racecheck: fence.proxy.async */
    words[threadIdx.x] = threadIdx.x;
    proxy_fence();
    if (right) proxy_fence_global();
    __syncthreads();
    if (threadIdx.x > 0) return;
    bulk_add(sums, words, sizeof words);
    bulk_wait<0>();
}
PAIR(race_proxy_reduce<right>, 1, 64, zeros<int>(64))

/* race-proxy-space — a fence for copies of shared memory does nothing for global memory. */
template <bool right> __global__ void race_proxy_space(int *data, int *out)
{
    data[threadIdx.x] = threadIdx.x; /* racecheck: RAW hazard at __global__; racecheck: fence.p */
    right ? proxy_fence_global() : proxy_fence();
    fetch_words(data, out);
}
PAIR(race_proxy_space<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* race-proxy-store — threads clear an array, and a bulk copy stores to a part of it. Zeros that
 * come late would overwrite the copy's words. */
template <bool right> __global__ void race_proxy_store(int *out)
{
    __shared__ __align__(16) int words[64];
    words[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = 0; /* racecheck: WAW hazard at __global__; racecheck: fence.proxy.async */
    proxy_fence();
    if (right) proxy_fence_global();
    __syncthreads();
    if (threadIdx.x > 0) return;
    bulk_store(out, words, 128);
    bulk_wait<0>();
}
PAIR(race_proxy_store<right>, 1, 64, zeros<int>(64))

/* race-proxy-words — copies of single words, by cp.async, see what threads have stored before a
 * barrier. Bulk copies need the fence. */
template <bool right> __global__ void race_proxy_words(int *data, int *out)
{
    __shared__ int words[64];
    data[threadIdx.x] = threadIdx.x; /* racecheck: RAW hazard at __global__; racecheck: fence.p */
    if (!right) return fetch_words(data, out);
    __syncthreads();
    __pipeline_memcpy_async(&words[threadIdx.x], &data[threadIdx.x ^ 33], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = words[threadIdx.x];
}
PAIR(race_proxy_words<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* race-ring — one warp copies to a ring of stages, the others read them: a stage may be released
 * only after it has been read. */
template <bool right> __global__ void race_ring(int *out, const int *in, int tiles)
{
    enum { STAGES = 2, READERS = 3 }; // warps
    __shared__ __align__(16) int words[STAGES][32];
    __shared__ barrier full[STAGES], empty[STAGES];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    make_barriers(full, STAGES, 1);
    make_barriers(empty, STAGES, READERS);
    for (int tile = 0; tile < tiles; tile++) {
        int stage = tile % STAGES, parity = tile / STAGES % 2;
        if (warp == READERS) {
            barrier_wait(&empty[stage], !parity); // at first, stages are empty
            if (lane == 0)
                bulk_fetch(words[stage], in + tile * 32, sizeof words[stage], &full[stage]);
            __syncwarp(); // a lane that lags by two phases would wait for ever
        } else {
            barrier_wait(&full[stage], parity);
            if (!right && lane == 0) barrier_arrive(&empty[stage]);
            /* racecheck: WAR hazard at __shared__ */
            sum += words[stage][lane];
            __syncwarp();
            if (right && lane == 0) barrier_arrive(&empty[stage]);
        }
    }
    out[threadIdx.x] = sum;
}
PAIR(race_ring<right>, 1, 128, zeros<int>(128), zeros<int>(16 * 32), 16)

/* race-ring-syncwarp — a ring of two stages: one warp fills them and says which tile each holds,
 * the others read. One lane releases a stage for its warp, after all its lanes have read. */
template <bool right> __global__ void race_ring_syncwarp(const int *in, int *out)
{
    enum { STAGES = 2, TILES = 8, READERS = 7, THREADS = 32 * (READERS + 1) };
    __shared__ __align__(16) int words[STAGES][32];
    __shared__ int tile_of[STAGES];
    __shared__ barrier full[STAGES], empty[STAGES];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    make_barriers(full, STAGES, 1);
    make_barriers(empty, STAGES, READERS);
    for (int tile = 0; tile < TILES; tile++) {
        int stage = tile % STAGES, parity = tile / STAGES % 2;
        if (warp == READERS) {
            barrier_wait(&empty[stage], !parity);
            if (lane == 0) {
                tile_of[stage] = tile; /* racecheck: WAR hazard at __shared__ */
                bulk_fetch(words[stage], in + tile * 32, sizeof words[stage], &full[stage]);
            }
        } else {
            barrier_wait(&full[stage], parity);
            __syncwarp(); /* the stage is not released while lanes still wait for it */
            out[tile_of[stage] * THREADS + threadIdx.x] = words[stage][lane];
            if (right) __syncwarp();
            if (lane == 0) barrier_arrive(&empty[stage]);
        }
    }
}
PAIR(race_ring_syncwarp<right>, 1, 256, numbers<int>(8 * 32), zeros<int>(8 * 256))

/* race-stmatrix — each warp stores a tile, and each thread reads a part of both tiles. That takes a
 * barrier of the block, not of the warp. */
template <bool right> __global__ void race_stmatrix(int *out)
{
    __shared__ __align__(16) __half tiles[2][TILE];
    unsigned a[4] = {threadIdx.x, threadIdx.x + 1, threadIdx.x + 2, threadIdx.x + 3};
    STORE_MATRICES(&tiles[threadIdx.x / 32][own_row()], a);
    if (right)
        __syncthreads();
    else
        __syncwarp();
    for (int k = 0; k < 2; k++)
        /* racecheck: Race reported; initcheck: Uninitialized __shared__ */
        ((uint2 *)out)[64 * k + threadIdx.x] = ((const uint2 *)tiles[k])[threadIdx.x];
}
PAIR(race_stmatrix<right>, 1, 64, zeros<int>(256))

/* race-stmatrix-row — a lane gives the address of a row to stmatrix, and then reads this row. But
 * the elements come from the registers of other lanes. */
template <bool right> __global__ void race_stmatrix_row(int *out)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4] = {threadIdx.x, threadIdx.x + 1, threadIdx.x + 2, threadIdx.x + 3};
    STORE_MATRICES(&tile[own_row()], a);
    if (right) __syncwarp();
    /* racecheck: Race reported */
    ((uint4 *)out)[threadIdx.x] = *(const uint4 *)&tile[own_row()];
}
PAIR(race_stmatrix_row<right>, 1, 32, zeros<int>(128))

/* race-wmma-load — each warp fills a tile of shared memory, and multiplies both tiles. */
template <bool right> __global__ void race_wmma_load(float *out, const __half *in)
{
    __shared__ __align__(32) __half tiles[2][TILE];
    int warp = threadIdx.x / 32;
    fragment_a a;
    fragment_b b;
    fragment_c c;
    wmma::fill_fragment(c, 0.0f);
    ((uint4 *)tiles)[threadIdx.x] = ((const uint4 *)in)[threadIdx.x];
    if (right)
        __syncthreads();
    else
        __syncwarp();
    wmma::load_matrix_sync(a, tiles[warp], SIDE);
    /* racecheck: Race reported; initcheck: Uninitialized __shared__ */
    wmma::load_matrix_sync(b, tiles[1 - warp], SIDE);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out + warp * TILE, c, SIDE, wmma::mem_row_major);
}
PAIR(race_wmma_load<right>, 1, 64, zeros<float>(2 * TILE), zeros<__half>(2 * TILE))

/* race-wmma-store — each warp multiplies a part of k, and both store their sums to one tile. */
template <bool right> __global__ void race_wmma_store(float *out, const __half *in)
{
    int warp = threadIdx.x / 32;
    fragment_a a;
    fragment_b b;
    fragment_c c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, in + warp * TILE, SIDE);
    wmma::load_matrix_sync(b, in + warp * TILE, SIDE);
    wmma::mma_sync(c, a, b, c);
    float *own = right ? out + warp * TILE : out;
    wmma::store_matrix_sync(own, c, SIDE, wmma::mem_row_major); /* racecheck: Race reported */
}
PAIR(race_wmma_store<right>, 1, 64, zeros<float>(2 * TILE), numbers<__half>(2 * TILE))
