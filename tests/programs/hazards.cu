/*
 * hazards.cu — kernels with a hazard (wrong_…) and their corrected neighbours (right_…), for
 * racecheck. All take the same arguments: data, of which each kernel uses as much as it needs, and
 * flags, words that are zero before the launch.
 */
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#pragma nv_diag_suppress 177 /* not every function of step 12's is needed */
#include "../../steps/12-pipeline/barrier.cuh"

namespace cg = cooperative_groups;

#define KERNEL(name) extern "C" __global__ void name(int *data, int *flags)
enum { BLOCK = 256, WARP = 32 };

/* ---- lanes of one warp ---------------------------------------------------------------------- */

/* Lecture, "But what's wrong with this code?" */
KERNEL(wrong_warp_reduction)
{
    __shared__ int shmem[2 * WARP];
    int tid = threadIdx.x, v = data[tid];
    shmem[tid] = v;
    shmem[tid + WARP] = 0;
    __syncwarp();
    for (int d = WARP / 2; d > 0; d /= 2) {
        v += shmem[tid + d];
        shmem[tid] = v;
    }
    data[tid] = v;
}

KERNEL(right_warp_reduction)
{
    __shared__ int shmem[2 * WARP];
    int tid = threadIdx.x, v = data[tid];
    shmem[tid] = v;
    shmem[tid + WARP] = 0;
    __syncwarp();
    for (int d = WARP / 2; d > 0; d /= 2) {
        v += shmem[tid + d];
        __syncwarp();
        shmem[tid] = v;
        __syncwarp();
    }
    data[tid] = v;
}

/* Kepler tuning guide 1.4.9: volatile keeps the compiler from holding values back, and no more. */
KERNEL(wrong_warp_volatile)
{
    __shared__ volatile int shmem[2 * WARP];
    int tid = threadIdx.x;
    shmem[tid] = data[tid];
    shmem[tid + WARP] = 0;
    __syncwarp();
    for (int d = WARP / 2; d > 0; d /= 2) shmem[tid] += shmem[tid + d];
    data[tid] = shmem[tid];
}

/* Lecture, the "safe" exchange with the right neighbour, in its loop. */
KERNEL(wrong_neighbour_exchange)
{
    __shared__ int smem[BLOCK];
    int x = data[threadIdx.x], warpid = threadIdx.x / WARP, laneid = threadIdx.x % WARP;
    for (int i = 0; i < 4; i++) {
        smem[threadIdx.x] = x;
        __syncthreads();
        x = smem[WARP * warpid + (laneid + 1) % WARP];
    }
    data[threadIdx.x] = x;
}

KERNEL(right_neighbour_exchange)
{
    __shared__ int smem[BLOCK];
    int x = data[threadIdx.x], warpid = threadIdx.x / WARP, laneid = threadIdx.x % WARP;
    for (int i = 0; i < 4; i++) {
        smem[threadIdx.x] = x;
        __syncthreads();
        x = smem[WARP * warpid + (laneid + 1) % WARP];
        __syncthreads();
    }
    data[threadIdx.x] = x;
}

/* An exchange of values orders no memory. */
KERNEL(wrong_shuffle_is_no_barrier)
{
    __shared__ int smem[WARP];
    smem[threadIdx.x] = threadIdx.x;
    int sum = __shfl_xor_sync(~0u, (int)threadIdx.x, 1);
    data[threadIdx.x] = sum + smem[threadIdx.x ^ 1];
}

/* One instruction, one word, 32 values. */
KERNEL(wrong_who_is_last) { data[0] = threadIdx.x; }

KERNEL(right_all_say_the_same)
{
    __shared__ int found;
    found = 0;
    __syncthreads();
    if (data[threadIdx.x] >= 0) found = 1;
    __syncthreads();
    data[threadIdx.x] = found;
}

/* Tiles of 8 lanes meet on their own; a sum within each needs no more. */
KERNEL(right_tiles)
{
    __shared__ int smem[BLOCK];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    smem[threadIdx.x] = data[threadIdx.x];
    tile.sync();
    for (int d = 4; d > 0; d /= 2) {
        int v = tile.thread_rank() < d ? smem[threadIdx.x + d] : 0;
        tile.sync();
        smem[threadIdx.x] += v;
        tile.sync();
    }
    data[threadIdx.x] = smem[threadIdx.x];
}

/* The next tile's sums are another matter. */
KERNEL(wrong_tiles)
{
    __shared__ int smem[BLOCK + 8];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    smem[threadIdx.x] = data[threadIdx.x];
    tile.sync();
    data[threadIdx.x] = smem[threadIdx.x ^ 8];
}

KERNEL(right_coalesced_group)
{
    __shared__ int smem[BLOCK];
    if (threadIdx.x % 3 == 0) {
        cg::coalesced_group group = cg::coalesced_threads();
        smem[threadIdx.x] = data[threadIdx.x];
        group.sync();
        int sum = 0; /* of whoever is in the group: the lanes of an if need not all be */
        for (unsigned i = 0; i < group.num_threads(); i++) {
            int who = group.shfl((int)threadIdx.x, i);
            if (group.thread_rank() == 0) sum += smem[who];
        }
        data[threadIdx.x] = sum;
    }
}

/* ---- threads of one block ------------------------------------------------------------------- */

/* Hillis and Steele in one buffer: GPU Gems 3, 39.2.1, says why it takes two. */
KERNEL(wrong_hillis_steele)
{
    __shared__ int temp[BLOCK];
    int t = threadIdx.x;
    temp[t] = data[t];
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        if (t >= d) temp[t] += temp[t - d];
        __syncthreads();
    }
    data[t] = temp[t];
}

KERNEL(right_hillis_steele)
{
    __shared__ int temp[BLOCK];
    int t = threadIdx.x;
    temp[t] = data[t];
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        int left = t >= d ? temp[t - d] : 0;
        __syncthreads();
        temp[t] += left;
        __syncthreads();
    }
    data[t] = temp[t];
}

template <bool barrier> static __device__ void up_sweep(int *data)
{
    __shared__ int temp[2 * BLOCK];
    int t = threadIdx.x;
    temp[2 * t] = data[2 * t];
    temp[2 * t + 1] = data[2 * t + 1];
    for (int d = BLOCK, offset = 1; d > 0; d /= 2, offset *= 2) {
        if (barrier) __syncthreads();
        if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
    }
    __syncthreads();
    data[2 * t] = temp[2 * t];
    data[2 * t + 1] = temp[2 * t + 1];
}
KERNEL(wrong_up_sweep) { up_sweep<false>(data); }
KERNEL(right_up_sweep) { up_sweep<true>(data); }

/* Neighbouring bytes are not the same byte. */
KERNEL(right_bytes)
{
    __shared__ char bytes[BLOCK];
    bytes[threadIdx.x] = (char)threadIdx.x;
    data[threadIdx.x] = bytes[threadIdx.x];
}

KERNEL(wrong_bytes)
{
    __shared__ char bytes[BLOCK + 4];
    bytes[threadIdx.x] = (char)threadIdx.x;
    data[threadIdx.x] = bytes[threadIdx.x + 1];
}

KERNEL(right_histogram)
{
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[data[threadIdx.x] & 63], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&flags[threadIdx.x], bins[threadIdx.x]);
}

KERNEL(wrong_histogram)
{
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    atomicAdd(&bins[data[threadIdx.x] & 63], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&flags[threadIdx.x], bins[threadIdx.x]);
}

/* Named barriers: the first half of the block produces, the second half consumes and says when the
 * buffer is free again. */
template <bool waits> static __device__ void producer_consumer(int *data)
{
    __shared__ int buffer[BLOCK / 2];
    int t = threadIdx.x % (BLOCK / 2);
    bool producer = threadIdx.x < BLOCK / 2;
    for (int round = 0; round < 3; round++) {
        if (producer) {
            if (waits && round > 0) asm volatile("bar.sync 2, %0;" ::"r"((int)BLOCK) : "memory");
            buffer[t] = round + t;
            if (waits)
                asm volatile("bar.arrive 1, %0;" ::"r"((int)BLOCK) : "memory");
            else
                asm volatile("bar.sync 1, %0;" ::"r"((int)BLOCK) : "memory");
        } else {
            asm volatile("bar.sync 1, %0;" ::"r"((int)BLOCK) : "memory");
            data[t] += buffer[t ^ 32];
            if (waits && round < 2) asm volatile("bar.arrive 2, %0;" ::"r"((int)BLOCK) : "memory");
        }
    }
}
KERNEL(right_producer_consumer) { producer_consumer<true>(data); }
KERNEL(wrong_producer_consumer) { producer_consumer<false>(data); }

/* Two halves of a block that never meet: a barrier of one does not order the other. */
KERNEL(wrong_half_barrier)
{
    __shared__ int smem[BLOCK];
    smem[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync %0, %1;" ::"r"(1 + threadIdx.x / 128), "r"(128) : "memory");
    data[threadIdx.x] = smem[threadIdx.x ^ 128];
}

KERNEL(right_half_barrier)
{
    __shared__ int smem[BLOCK];
    smem[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync %0, %1;" ::"r"(1 + threadIdx.x / 128), "r"(128) : "memory");
    data[threadIdx.x] = smem[threadIdx.x ^ 64];
}

/* A flag in shared memory from one warp to another. */
template <bool fence> static __device__ void shared_flag(int *data)
{
    __shared__ int value[WARP];
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x < WARP) {
        value[threadIdx.x] = data[threadIdx.x];
        if (fence) __threadfence_block();
        __syncwarp();
        if (threadIdx.x == 0) ready = 1;
    } else if (threadIdx.x < 2 * WARP) {
        while (!ready) continue;
        data[threadIdx.x] = value[threadIdx.x - WARP];
    }
}
KERNEL(right_shared_flag) { shared_flag<true>(data); }
KERNEL(wrong_shared_flag) { shared_flag<false>(data); }

/* ---- blocks of one grid --------------------------------------------------------------------- */

KERNEL(wrong_blocks_share)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += data[i + 1]; /* across the block's end, too */
}

KERNEL(wrong_sum) { *flags += data[blockIdx.x * blockDim.x + threadIdx.x]; }
KERNEL(right_sum) { atomicAdd(flags, data[blockIdx.x * blockDim.x + threadIdx.x]); }

/* A block hands a value on to the next one: flags[0…] are the blocks' flags. */
enum handing { NO_FENCE, BLOCK_FENCE, FENCE };
template <handing how> static __device__ void hand_on(int *data, int *flags)
{
    if (threadIdx.x != 0) return;
    int before = 0;
    if (blockIdx.x > 0) {
        while (atomicAdd(&flags[blockIdx.x - 1], 0) == 0) continue;
        before = data[blockIdx.x - 1];
    }
    data[blockIdx.x] = before + 1;
    if (how == FENCE) __threadfence();
    if (how == BLOCK_FENCE) __threadfence_block();
    *(volatile int *)&flags[blockIdx.x] = 1;
}
KERNEL(right_chain) { hand_on<FENCE>(data, flags); }
KERNEL(wrong_chain_without_fence) { hand_on<NO_FENCE>(data, flags); }
KERNEL(wrong_chain_block_fence) { hand_on<BLOCK_FENCE>(data, flags); }

/* The last value of the chain is known to come after all others. */
KERNEL(right_chain_transitive)
{
    if (threadIdx.x != 0) return;
    data[blockIdx.x] = blockIdx.x;
    if (blockIdx.x > 0)
        while (*(volatile int *)&flags[blockIdx.x - 1] == 0) continue;
    __threadfence();
    *(volatile int *)&flags[blockIdx.x] = 1;
    if (blockIdx.x == gridDim.x - 1) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += data[i];
        data[blockIdx.x] = sum;
    }
}

KERNEL(right_acquire_release)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[0]);
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 42;
        flag.store(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (flag.load(cuda::memory_order_acquire) == 0) continue;
        data[1] = data[0];
    }
}

KERNEL(wrong_relaxed)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[0]);
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 42;
        flag.store(1, cuda::memory_order_relaxed);
    } else if (blockIdx.x == 1) {
        while (flag.load(cuda::memory_order_relaxed) == 0) continue;
        data[1] = data[0];
    }
}

/* Atomics of a block's scope do not reach another block. */
KERNEL(wrong_block_scope) { atomicAdd_block(flags, 1); }
KERNEL(right_block_scope) { atomicAdd_block(&flags[blockIdx.x], 1); }

/* A flag that is read as plain memory. */
KERNEL(wrong_plain_flag)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0)
        atomicExch(flags, 1);
    else
        data[blockIdx.x] = *flags;
}

/* CUDA's threadFenceReduction: the last block adds up what the others have stored. */
template <bool fence> static __device__ void last_block(int *data, int *flags)
{
    __shared__ bool last;
    int *sums = data + gridDim.x * blockDim.x;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, data[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        if (fence) __threadfence();
        last = atomicInc((unsigned *)flags, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) atomicAdd(&flags[1], ((volatile int *)sums)[threadIdx.x]);
}
KERNEL(right_last_block) { last_block<true>(data, flags); }
KERNEL(wrong_last_block) { last_block<false>(data, flags); }

/* Every thread fences what it wrote, then one tells for all (CUB's GridBarrier). */
template <bool fence> static __device__ void fence_then_barrier(int *data, int *flags)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    if (fence) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(flags, 1);
        while (*(volatile int *)flags < (int)gridDim.x) continue;
    }
    __syncthreads();
    int next = (blockIdx.x + 1) % gridDim.x * blockDim.x + threadIdx.x;
    flags[1 + blockIdx.x * blockDim.x + threadIdx.x] = data[next];
}
KERNEL(right_grid_barrier) { fence_then_barrier<true>(data, flags); }
KERNEL(wrong_grid_barrier) { fence_then_barrier<false>(data, flags); }

KERNEL(right_grid_sync)
{
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int round = 0; round < 3; round++) {
        int next = data[(i + blockDim.x) % n];
        grid.sync();
        data[i] = next;
        grid.sync();
    }
}

/* Memory that a thread has freed belongs to whoever gets it next, and to nobody before. */
KERNEL(right_heap)
{
    for (int i = 0; i < 20; i++) {
        int *mine = (int *)malloc(1000);
        if (!mine) return;
        mine[0] = threadIdx.x;
        data[blockIdx.x * blockDim.x + threadIdx.x] += mine[0];
        free(mine);
    }
}

/* The CUDA guide's loop around atomicCAS: the plain load may find anything. */
KERNEL(right_cas_loop)
{
    unsigned *sum = (unsigned *)flags, old = *sum, assumed;
    if (threadIdx.x % 5 != 3) return;
    do {
        assumed = old;
        old = atomicCAS(sum, assumed, assumed + data[threadIdx.x]);
    } while (old != assumed);
}

/* A plain load of a sum is another matter. */
KERNEL(wrong_plain_sum)
{
    atomicAdd(flags, 1);
    data[threadIdx.x] = *flags;
}

/* A lock around a counter that is no atomic. */
template <bool fence> static __device__ void locked(int *data, int *flags)
{
    if (threadIdx.x % WARP != 0) return;
    while (atomicCAS(flags, 0, 1) != 0) continue;
    if (fence) __threadfence();
    *data += 1;
    if (fence) __threadfence();
    atomicExch(flags, 0);
}
KERNEL(right_lock) { locked<true>(data, flags); }
KERNEL(wrong_lock) { locked<false>(data, flags); }

/* Merrill and Garland's decoupled look-back, each block's state in one 64-bit word. */
KERNEL(right_look_back)
{
    __shared__ int prefix;
    unsigned long long *states = (unsigned long long *)flags;
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = __syncthreads_count(data[i] & 1);
    if (threadIdx.x < WARP) {
        int exclusive = 0;
        if (threadIdx.x == 0)
            atomicExch(&states[blockIdx.x], (blockIdx.x ? 1ull : 2ull) << 32 | sum);
        for (int at = (int)blockIdx.x - 1 - (int)threadIdx.x; blockIdx.x > 0; at -= WARP) {
            unsigned long long state = 2ull << 32;
            while (at >= 0 && (state = *(volatile unsigned long long *)&states[at]) >> 32 == 0)
                continue;
            unsigned done = __ballot_sync(~0u, state >> 32 == 2);
            int first = done ? __ffs(done) - 1 : WARP;
            int mine = (int)threadIdx.x <= first ? (int)state : 0;
            exclusive += __reduce_add_sync(~0u, mine);
            if (done) break;
        }
        if (threadIdx.x == 0) {
            if (blockIdx.x > 0) atomicExch(&states[blockIdx.x], 2ull << 32 | (exclusive + sum));
            prefix = exclusive;
        }
    }
    __syncthreads();
    data[i] = prefix;
}

/* ---- mbarriers ------------------------------------------------------------------------------ */

/* The first thread makes `count` barriers for so many arrivals. */
static __device__ void make(barrier *b, int count, unsigned arrivals)
{
    for (int i = 0; i < count && threadIdx.x == 0; i++) barrier_init(&b[i], arrivals);
    __syncthreads();
}

static __device__ void arrive_relaxed(barrier *b)
{
    asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(b))
                 : "memory");
}

/* Asks once whether a phase is over, and does not look at the answer. */
static __device__ void ask(barrier *b, unsigned parity)
{
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.test_wait.parity.shared::cta.b64 p, [%0], %1;\n\t}" ::"r"(shared_address(b)),
        "r"(parity)
        : "memory");
}

/* The first warp stores, one lane of it arrives, the second warp waits and loads. */
enum mistake {
    NONE,
    WITHOUT_SYNCWARP,
    WITHOUT_WAIT,
    OTHER_BARRIER,
    OTHER_PARITY,
    GIVEN_BACK_EARLY
};
template <enum mistake mistake> static __device__ void hand_over(int *data)
{
    __shared__ int words[WARP];
    __shared__ barrier full;
    int lane = threadIdx.x % WARP;
    make(&full, 1, 1);
    if (threadIdx.x < WARP) {
        words[lane] = lane;
        if (mistake != WITHOUT_SYNCWARP) __syncwarp();
        if (lane == 0) barrier_arrive(&full);
    } else {
        if (mistake == NONE || mistake == WITHOUT_SYNCWARP) barrier_wait(&full, 0);
        if (mistake == OTHER_PARITY) ask(&full, 1);
        data[lane] = words[lane];
    }
}
KERNEL(right_arrival) { hand_over<NONE>(data); }
KERNEL(wrong_arrival_without_syncwarp) { hand_over<WITHOUT_SYNCWARP>(data); }
KERNEL(wrong_arrival_without_wait) { hand_over<WITHOUT_WAIT>(data); }
KERNEL(wrong_arrival_of_other_phase) { hand_over<OTHER_PARITY>(data); }

/* An arrival that releases nothing is enough behind a fence. */
template <bool fence> static __device__ void relaxed(int *data)
{
    __shared__ int word;
    __shared__ barrier full;
    make(&full, 1, 1);
    if (threadIdx.x == 0) {
        word = data[1];
        if (fence) __threadfence_block();
        arrive_relaxed(&full);
    } else if (threadIdx.x == WARP) {
        barrier_wait(&full, 0);
        data[0] = word;
    }
}
KERNEL(right_relaxed_arrival) { relaxed<true>(data); }
KERNEL(wrong_relaxed_arrival) { relaxed<false>(data); }

/* A barrier is made by one thread: the others must know of it. */
template <bool fence> static __device__ void made_by_one(int *data)
{
    __shared__ barrier full;
    __shared__ int made;
    volatile int *flag = &made;
    *flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        if (fence) __threadfence_block();
        *flag = 1;
        barrier_wait(&full, 0);
    } else if (threadIdx.x == WARP) {
        while (!*flag) continue;
        barrier_arrive(&full);
    }
}
KERNEL(right_barrier_made_by_one) { made_by_one<true>(data); }
KERNEL(wrong_barrier_made_by_one) { made_by_one<false>(data); }

/* What is done after an arrival is known to nobody who waits for it. */
KERNEL(wrong_store_after_arrival)
{
    __shared__ int word;
    __shared__ barrier full;
    make(&full, 1, 1);
    if (threadIdx.x == 0) {
        barrier_arrive(&full);
        word = data[1];
    } else if (threadIdx.x == WARP) {
        barrier_wait(&full, 0);
        data[0] = word;
    }
}

/* ---- bulk copies ---------------------------------------------------------------------------- */

/* Two copies to two places, one barrier each; all threads read the first. */
template <enum mistake mistake> static __device__ void fetch(int *data, int *flags)
{
    __shared__ __align__(16) int words[2][BLOCK];
    __shared__ barrier full[2];
    make(full, 2, 1);
    for (int i = 0; i < 2 && threadIdx.x == 0; i++) {
        barrier_arrive_expect(&full[i], sizeof words[i]);
        bulk_load(words[i], data + i * BLOCK, sizeof words[i], &full[i]);
    }
    if (mistake == NONE) barrier_wait(&full[0], 0);
    if (mistake == OTHER_BARRIER) barrier_wait(&full[1], 0);
    if (mistake == OTHER_PARITY) ask(&full[0], 1);
    flags[threadIdx.x] = words[0][BLOCK - 1 - threadIdx.x];
    barrier_wait(&full[0], 0);
    barrier_wait(&full[1], 0);
}
KERNEL(right_bulk_copy) { fetch<NONE>(data, flags); }
KERNEL(wrong_bulk_copy_without_wait) { fetch<WITHOUT_WAIT>(data, flags); }
KERNEL(wrong_bulk_copy_other_barrier) { fetch<OTHER_BARRIER>(data, flags); }
KERNEL(wrong_bulk_copy_other_phase) { fetch<OTHER_PARITY>(data, flags); }

/* One thread waits; the others hear of it at a barrier, or do not. */
template <bool barrier_there> static __device__ void one_waits(int *data, int *flags)
{
    __shared__ __align__(16) int words[BLOCK];
    __shared__ barrier full;
    make(&full, 1, 1);
    if (threadIdx.x == 0) {
        barrier_arrive_expect(&full, sizeof words);
        bulk_load(words, data, sizeof words, &full);
        barrier_wait(&full, 0);
    }
    if (barrier_there) __syncthreads();
    flags[threadIdx.x] = words[threadIdx.x];
}
KERNEL(right_one_waits_for_all) { one_waits<true>(data, flags); }
KERNEL(wrong_one_waits_for_all) { one_waits<false>(data, flags); }

/* A copy to where threads have just read: it is begun behind a barrier, or not. */
template <bool barrier_there> static __device__ void copy_over(int *data, int *flags)
{
    __shared__ __align__(16) int words[BLOCK];
    __shared__ barrier full;
    words[threadIdx.x] = 0;
    make(&full, 1, 1);
    flags[threadIdx.x] = words[threadIdx.x];
    if (barrier_there) __syncthreads();
    if (threadIdx.x == 0) {
        barrier_arrive_expect(&full, sizeof words);
        bulk_load(words, data, sizeof words, &full);
    }
    barrier_wait(&full, 0);
    flags[threadIdx.x] += words[threadIdx.x];
}
KERNEL(right_copy_over) { copy_over<true>(data, flags); }
KERNEL(wrong_copy_over) { copy_over<false>(data, flags); }

/* A ring of two stages: the last warp fills them, the others read; each tile is also told about by
 * a plain store. */
template <enum mistake mistake> static __device__ void ring(int *data, int *flags)
{
    enum { STAGES = 2, TILES = 8, READERS = BLOCK / WARP - 1 };
    __shared__ __align__(16) int words[STAGES][WARP];
    __shared__ int tile_of[STAGES];
    __shared__ barrier full[STAGES], empty[STAGES];
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    make(full, STAGES, 1);
    make(empty, STAGES, READERS);
    for (int tile = 0; tile < TILES; tile++) {
        int stage = tile % STAGES, parity = tile / STAGES % 2;
        if (warp == READERS) {
            barrier_wait(&empty[stage], !parity);
            if (lane == 0) {
                tile_of[stage] = tile;
                barrier_arrive_expect(&full[stage], sizeof words[stage]);
                bulk_load(words[stage], data + tile * WARP, sizeof words[stage], &full[stage]);
            }
        } else {
            barrier_wait(&full[stage], parity);
            __syncwarp(); /* nobody gives it back while lanes still wait for it */
            if (mistake == GIVEN_BACK_EARLY && lane == 0) barrier_arrive(&empty[stage]);
            flags[tile_of[stage] * BLOCK + threadIdx.x] = words[stage][lane];
            if (mistake != WITHOUT_SYNCWARP) __syncwarp();
            if (mistake != GIVEN_BACK_EARLY && lane == 0) barrier_arrive(&empty[stage]);
        }
    }
}
KERNEL(right_ring) { ring<NONE>(data, flags); }
KERNEL(wrong_ring_given_back_early) { ring<GIVEN_BACK_EARLY>(data, flags); }
KERNEL(wrong_ring_without_syncwarp) { ring<WITHOUT_SYNCWARP>(data, flags); }

/* ---- bulk copies to global memory ----------------------------------------------------------- */

static __device__ void proxy_fence(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ void bulk_store(void *to, const void *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n\t"
                 "cp.async.bulk.commit_group;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(shared_address(from)), "r"(bytes)
                 : "memory");
}

/* What threads have stored copies see behind a fence of their own kind: before the barrier, by each
 * thread for itself; or behind it, by one for all. */
enum fence_place { FENCE_NOWHERE, FENCE_BEFORE, FENCE_BEHIND };
template <enum fence_place fence, bool mbarrier> static __device__ void send_fenced(int *flags)
{
    __shared__ __align__(16) int words[BLOCK];
    __shared__ barrier full;
    make(&full, 1, BLOCK);
    words[threadIdx.x] = threadIdx.x;
    if (fence == FENCE_BEFORE) proxy_fence();
    if (mbarrier)
        barrier_arrive(&full);
    else
        __syncthreads();
    if (threadIdx.x > 0) return;
    if (mbarrier) barrier_wait(&full, 0);
    if (fence == FENCE_BEHIND) proxy_fence();
    bulk_store(flags, words, sizeof words);
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
KERNEL(right_fence_for_copies) { send_fenced<FENCE_BEFORE, false>(flags); }
KERNEL(right_fence_for_all) { send_fenced<FENCE_BEHIND, false>(flags); }
KERNEL(wrong_no_fence_for_copies) { send_fenced<FENCE_NOWHERE, false>(flags); }
KERNEL(right_fence_and_arrival) { send_fenced<FENCE_BEFORE, true>(flags); }
KERNEL(wrong_no_fence_but_arrival) { send_fenced<FENCE_NOWHERE, true>(flags); }

/* Two copies out of one place, which may be written again when the first has been read; and the
 * first one's target may be read when that is over. */
template <bool read, bool written> static __device__ void send(int *data, int *flags)
{
    __shared__ __align__(16) int words[BLOCK];
    words[threadIdx.x] = data[threadIdx.x];
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(flags, words, sizeof words);
        if (read) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
    words[threadIdx.x] = 0;
    proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(flags + BLOCK, words, sizeof words);
        if (written) asm volatile("cp.async.bulk.wait_group 1;" ::: "memory");
    }
    __syncthreads();
    data[threadIdx.x] = flags[threadIdx.x];
}
KERNEL(right_bulk_store) { send<true, true>(data, flags); }
KERNEL(wrong_bulk_store_read) { send<false, true>(data, flags); }
KERNEL(wrong_bulk_store_written) { send<true, false>(data, flags); }

/* ---- asynchronous copies of words ----------------------------------------------------------- */

/* Two groups, of which the first is waited for. */
template <int prior, bool barrier_there> static __device__ void groups(int *data, int *flags)
{
    __shared__ int words[2][BLOCK];
    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&words[i][threadIdx.x], &data[i * BLOCK + threadIdx.x], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(prior);
    if (barrier_there) __syncthreads();
    flags[threadIdx.x] = words[0][BLOCK - 1 - threadIdx.x];
    __pipeline_wait_prior(0);
}
KERNEL(right_copy_groups) { groups<1, true>(data, flags); }
KERNEL(wrong_copy_groups_too_early) { groups<2, true>(data, flags); }
KERNEL(wrong_copy_groups_no_barrier) { groups<1, false>(data, flags); }

/* An mbarrier that copies arrive at: those that were begun before. */
template <bool before> static __device__ void copies_arrive(int *data, int *flags)
{
    __shared__ int words[BLOCK];
    __shared__ barrier full;
    make(&full, 1, BLOCK);
    if (before) __pipeline_memcpy_async(&words[threadIdx.x], &data[threadIdx.x], 4);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(&full)));
    if (!before) __pipeline_memcpy_async(&words[threadIdx.x], &data[threadIdx.x], 4);
    barrier_wait(&full, 0);
    flags[threadIdx.x] = words[BLOCK - 1 - threadIdx.x];
    __pipeline_wait_prior(0);
}
KERNEL(right_copies_arrive) { copies_arrive<true>(data, flags); }
KERNEL(wrong_copies_arrive) { copies_arrive<false>(data, flags); }

/* ---- pipelines of libcu++ -------------------------------------------------------------------- */

#pragma nv_diag_suppress static_var_with_dynamic_init

/* All threads copy and read. Each warp's first lane counts its threads out, and the last one
 * invalidates the pipeline's mbarriers. */
template <int stages> static __device__ void through_stages(int *data, int *flags)
{
    enum { TILES = 5 };
    __shared__ int words[stages][BLOCK];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    for (int tile = 0, next = 0; tile < TILES; tile++) {
        for (; next < TILES && next < tile + stages; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&words[next % stages][threadIdx.x],
                               &data[next * blockDim.x + threadIdx.x], sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        flags[tile * BLOCK + threadIdx.x] = words[tile % stages][blockDim.x - 1 - threadIdx.x];
        pipe.consumer_release();
    }
}
KERNEL(right_one_stage) { through_stages<1>(data, flags); }
KERNEL(right_two_stages) { through_stages<2>(data, flags); }
KERNEL(right_three_stages) { through_stages<3>(data, flags); }

/* The first warp copies, the others read, and give a stage back when they have, or before. */
template <bool before> static __device__ void roles(int *data, int *flags)
{
    enum { STAGES = 2, TILES = 6 };
    __shared__ int words[STAGES][WARP];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    bool copies = threadIdx.x < WARP;
    auto pipe =
        cuda::make_pipeline(cg::this_thread_block(), &state,
                            copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int tile = 0; tile < TILES; tile++) {
        int *stage = words[tile % STAGES], lane = threadIdx.x % WARP;
        if (copies) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[lane], &data[tile * WARP + lane], sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            if (before) pipe.consumer_release();
            flags[tile * BLOCK + threadIdx.x] = stage[WARP - 1 - lane];
            if (!before) pipe.consumer_release();
        }
    }
}
KERNEL(right_roles) { roles<false>(data, flags); }
KERNEL(wrong_roles) { roles<true>(data, flags); }

/* ---- blocks of a cluster -------------------------------------------------------------------- */

#define CLUSTER(name)                                                                              \
    extern "C" __global__ void __cluster_dims__(2, 1, 1) name(int *data, int *flags)

/* Each block stores into the other's shared memory. */
template <bool waits, bool releases> static __device__ void exchange(int *data)
{
    __shared__ int words[BLOCK];
    auto cluster = cg::this_cluster();
    words[threadIdx.x] = 0;
    cluster.sync();
    cluster.map_shared_rank(words, cluster.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
    if (releases)
        asm volatile("barrier.cluster.arrive;" ::: "memory");
    else
        asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    if (waits) cluster.barrier_wait();
    data[blockIdx.x * BLOCK + threadIdx.x] = words[threadIdx.x];
    if (!waits) cluster.barrier_wait();
}
CLUSTER(right_cluster) { exchange<true, true>(data); }
CLUSTER(wrong_cluster_without_wait) { exchange<false, true>(data); }
CLUSTER(wrong_cluster_relaxed) { exchange<true, false>(data); }

/* A barrier in the other block's shared memory. That it was made is known there behind a fence. */
template <bool fence, bool waits> static __device__ void remote_arrival(int *data)
{
    __shared__ int words[BLOCK];
    __shared__ barrier full;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        barrier_init(&full, BLOCK);
        if (fence) barrier_init_done();
    }
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    cluster.barrier_wait();
    unsigned other = cluster.block_rank() ^ 1, at;
    cluster.map_shared_rank(words, other)[threadIdx.x] = threadIdx.x;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(at)
                 : "r"(shared_address(&full)), "r"(other));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at)
                 : "memory");
    if (waits) barrier_wait(&full, 0);
    data[blockIdx.x * BLOCK + threadIdx.x] = words[threadIdx.x];
    cluster.sync();
}
CLUSTER(right_remote_arrival) { remote_arrival<true, true>(data); }
CLUSTER(wrong_remote_arrival) { remote_arrival<true, false>(data); }
CLUSTER(wrong_remote_barrier) { remote_arrival<false, true>(data); }
