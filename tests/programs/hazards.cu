/*
 * hazards.cu — kernels with a hazard (wrong_…) and their corrected neighbours (right_…), for
 * racecheck. All take the same arguments: data, of which each kernel uses as much as it needs, and
 * flags, words that are zero before the launch.
 */
#include <cooperative_groups.h>
#include <cuda/atomic>

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
