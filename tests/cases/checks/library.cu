/* library.cu — pairs of every checker whose kernels use cooperative groups or libcu++ (cuda::…).
 * They are one catalogue, because their headers take longest to compile. pair.h says how a pair is
 * written. */
#include "bulk.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

#pragma nv_diag_suppress static_var_with_dynamic_init /* barriers of libcu++ in shared memory */

namespace cg = cooperative_groups;
using word = cuda::atomic_ref<int, cuda::thread_scope_device>;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;
using latch = cuda::latch<cuda::thread_scope_block>;

/* Blocks of a cluster store into each other's shared memory, and arrive at a barrier there. */
template <bool fence, bool waits> static __device__ void exchange_and_arrive(int *out)
{
    __shared__ int words[256];
    __shared__ barrier full;
    auto cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) {
        barrier_init(&full, 256);
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
    out[blockIdx.x * 256 + threadIdx.x] = words[threadIdx.x];
    cluster.sync();
}

/* api-cooperative — a cooperative launch has more blocks than the GPU can hold at the same time. */
__global__ void api_cooperative(int *out)
{
    cooperative_groups::this_grid().sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
HOST(api_cooperative)
{
    int processors, on_each;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, api_cooperative, 1024, 0);
    int blocks = right ? 2 : processors * on_each + 1;
    int *out = zeros<int>(blocks * 1024);
    void *arguments[] = {&out};
    cudaLaunchCooperativeKernel(/* memcheck: cudaErrorCooperativeLaunchTooLarge */
                                api_cooperative, blocks, 1024, arguments);
}

/* deadlock-cluster — one block waits at the cluster's barrier, and the other waits for a flag that
 * is set behind it. */
template <bool right>
__global__ void __cluster_dims__(2) deadlock_cluster(volatile int *flag, int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (right && blockIdx.x == 0) *flag = 1;
    if (blockIdx.x == 1)
        while (*flag == 0) continue; /* memcheck: wait; synccheck: wait */
    cluster.sync();
    if (!right && blockIdx.x == 0) *flag = 1;
    out[blockIdx.x] = 1;
}
PAIR(deadlock_cluster<right>, 2, 1, zeros<int>(1), zeros<int>(2))

/* deadlock-grid — a block without work returns before the barrier of the grid. */
template <bool right> __global__ void deadlock_grid(int *words, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!right && i >= n) return;
    if (i < n) words[i] = i;
    cg::this_grid().sync(); /* memcheck: wait; synccheck: wait */
    if (i < n) out[i] = words[n - 1 - i];
}
COOPERATIVE(deadlock_grid<right>, 4, 32, zeros<int>(3 * 32), zeros<int>(3 * 32), 3 * 32)

/* deadlock-lock — a thread that returns early does not release its lock. */
template <bool right> __global__ void deadlock_lock(int *lock, int *list, int *n)
{
    word held(*lock);
    /* memcheck: wait; synccheck: wait */
    for (int open = 0; !held.compare_exchange_weak(open, 1, cuda::memory_order_acquire); open = 0)
        continue;
    if (*n == 2) {
        if (right) held.store(0, cuda::memory_order_release);
        return;
    }
    list[(*n)++] = blockIdx.x;
    held.store(0, cuda::memory_order_release);
}
PAIR(deadlock_lock<right>, 4, 1, zeros<int>(1), zeros<int>(2), zeros<int>(1))

/* deadlock-two-locks — two blocks take two locks in opposite order. */
__device__ static void take(int *lock)
{
    /* memcheck: wait; synccheck: wait */
    for (int open = 0; !word(*lock).compare_exchange_weak(open, 1); open = 0) continue;
}
__device__ static void give(int *lock) { word(*lock).store(0); }
template <bool right> __global__ void deadlock_two_locks(int *locks, int *accounts, int *started)
{
    int first = right ? 0 : blockIdx.x, second = 1 - first;
    take(&locks[first]);
    if (!right) { // both have one lock now, as they may have by chance
        word(*started)++;
        while (word(*started).load() < 2) continue;
    }
    take(&locks[second]);
    accounts[blockIdx.x]++;
    accounts[1 - blockIdx.x]--;
    give(&locks[second]);
    give(&locks[first]);
}
PAIR(deadlock_two_locks<right>, 2, 1, zeros<int>(2), zeros<int>(2), zeros<int>(1))

/* memory-cluster — the last block of a cluster reads the shared memory of the next one. */
template <bool right> __global__ void __cluster_dims__(2) memory_cluster(int *out)
{
    __shared__ int word;
    cg::cluster_group cluster = cg::this_cluster();
    int next = cluster.block_rank() + 1;
    word = blockIdx.x;
    cluster.sync();
    int *theirs = cluster.map_shared_rank(&word, right ? next % 2 : next);
    out[blockIdx.x] = *theirs; /* memcheck: names the block of rank 2, in a cluster of 2 */
    cluster.sync();
}
PAIR(memory_cluster<right>, 2, 1, zeros<int>(2))

/* race-barrier-object — an asynchronous barrier: arriving alone does not wait for the others. */
template <bool right> __global__ void race_barrier_object(int *out)
{
    __shared__ int words[128];
    __shared__ block_barrier meeting;
    if (threadIdx.x == 0) init(&meeting, blockDim.x);
    __syncthreads();
    words[threadIdx.x] = threadIdx.x;
    block_barrier::arrival_token token = meeting.arrive();
    if (right) meeting.wait(std::move(token));
    out[threadIdx.x] = words[127 - threadIdx.x];
}
PAIR(race_barrier_object<right>, 1, 128, zeros<int>(128))

/* race-cluster — a block stores into the shared memory of another block of its cluster, which reads
 * it behind a barrier of the cluster. __syncthreads() is a barrier of one block. */
template <bool right> __global__ void __cluster_dims__(2) race_cluster(int *out)
{
    __shared__ int words[64];
    auto cluster = cg::this_cluster();
    words[threadIdx.x] = 0;
    cluster.sync();
    cluster.map_shared_rank(words, cluster.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
    if (right)
        cluster.sync();
    else
        __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = words[threadIdx.x];
    cluster.sync();
}
PAIR(race_cluster<right>, 4, 64, zeros<int>(256))

/* race-cluster-arrival — threads of one block arrive at a barrier in another block of the cluster,
 * after they have stored there. The other block must wait at that barrier. */
template <bool right> __global__ void __cluster_dims__(2) race_cluster_arrival(int *out)
{
    /* racecheck: cluster.sync() in race_cluster_arrival() */
    /* initcheck: Uninitialized in race_cluster_arrival() */
    exchange_and_arrive<true, right>(out);
}
PAIR(race_cluster_arrival<right>, 4, 256, zeros<int>(1024))

/* race-cluster-barrier — a barrier in another block's shared memory must have been initialised: the
 * other block sees that after a fence. */
template <bool right> __global__ void __cluster_dims__(2) race_cluster_barrier(int *out)
{
    /* racecheck: WAW hazard at __shared__ in barrier.cuh */
    exchange_and_arrive<right, true>(out);
}
PAIR(race_cluster_barrier<right>, 4, 256, zeros<int>(1024))

/* race-cluster-exit — a block's shared memory ends with the block. It may not exit while another
 * block of its cluster still reads there. */
template <bool right> __global__ void __cluster_dims__(2) race_cluster_exit(int *out)
{
    __shared__ int words[64];
    auto cluster = cg::this_cluster();
    words[threadIdx.x] = threadIdx.x;
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] =
        cluster.map_shared_rank(words, cluster.block_rank() ^ 1)[63 - threadIdx.x];
    if (right) cluster.sync();
}
PAIR(race_cluster_exit<right>, 4, 64, zeros<int>(256))

/* race-cluster-flag — a block reads another one's shared memory, and then signals it by an atomic
 * there. The other block waits for the signal, and then exits. */
template <bool right> __global__ void __cluster_dims__(2) race_cluster_flag(int *out)
{
    __shared__ int word, read;
    auto cluster = cg::this_cluster();
    word = 42;
    read = 0;
    cluster.sync();
    if (cluster.block_rank() == 1) {
        *out = *cluster.map_shared_rank(&word, 0);
        __threadfence();
        atomicExch(cluster.map_shared_rank(&read, 0), 1);
    } else if (right) {
        while (!atomicAdd(&read, 0)) continue;
    }
}
PAIR(race_cluster_flag<right>, 2, 1, zeros<int>(1))

/* race-cluster-relaxed — blocks of a cluster store into each other's shared memory. A relaxed
 * arrival at their barrier releases nothing. */
template <bool right> __global__ void __cluster_dims__(2) race_cluster_relaxed(int *out)
{
    __shared__ int words[256];
    auto cluster = cg::this_cluster();
    words[threadIdx.x] = 0;
    cluster.sync();
    cluster.map_shared_rank(words, cluster.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
    if (right)
        asm volatile("barrier.cluster.arrive;" ::: "memory");
    else
        asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    cluster.barrier_wait();
    /* racecheck: RAW hazard at __shared__; racecheck: cluster.sync() */
    out[blockIdx.x * 256 + threadIdx.x] = words[threadIdx.x];
}
PAIR(race_cluster_relaxed<right>, 4, 256, zeros<int>(1024))

/* race-cluster-sum — blocks of a cluster add to a counter in the first block's shared memory. That
 * block may read the sum, and exit, when all have added. */
template <bool right> __global__ void __cluster_dims__(4) race_cluster_sum(int *out)
{
    __shared__ int sum;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&sum, 0), 1);
    if (right)
        cluster.sync();
    else
        __syncthreads();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) out[blockIdx.x / 4] = sum;
}
PAIR(race_cluster_sum<right>, 8, 64, zeros<int>(2))

/* race-cluster-wait — a block stores into the shared memory of another one of its cluster. That
 * block must wait at the barrier of the cluster, and not only arrive, before it reads. */
template <bool right> __global__ void __cluster_dims__(2) race_cluster_wait(int *out)
{
    __shared__ int words[256];
    auto cluster = cg::this_cluster();
    words[threadIdx.x] = 0;
    cluster.sync();
    cluster.map_shared_rank(words, cluster.block_rank() ^ 1)[threadIdx.x] = threadIdx.x;
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    if (right) cluster.barrier_wait();
    /* racecheck: hazard at __shared__; racecheck: cluster.sync() */
    out[blockIdx.x * 256 + threadIdx.x] = words[threadIdx.x];
    if (!right) cluster.barrier_wait();
}
PAIR(race_cluster_wait<right>, 4, 256, zeros<int>(1024))

/* race-coalesced — a group of the lanes that are in an if has a barrier of its own. */
template <bool right> __global__ void race_coalesced(int *data)
{
    __shared__ int words[256];
    if (threadIdx.x % 3 > 0) return;
    cg::coalesced_group group = cg::coalesced_threads();
    words[threadIdx.x] = data[threadIdx.x];
    if (right) group.sync();
    int sum = 0; /* of the group's lanes, which need not be all lanes of the if */
    for (unsigned i = 0; i < group.num_threads(); i++) {
        int other = group.shfl((int)threadIdx.x, i);
        if (group.thread_rank() == 0) sum += words[other]; /* racecheck: RAW hazard at __shared__ */
    }
    data[threadIdx.x] = sum;
}
PAIR(race_coalesced<right>, 1, 256, numbers<int>(256))

/* race-double-checked — the first block that needs a table makes it. A flag is first loaded without
 * the lock. This load must acquire, because a plain load orders nothing. */
template <bool right>
__global__ void race_double_checked(int *lock, int *made, int *table, int *out)
{
    word is_made(*made);
    if (!(right ? is_made.load(cuda::memory_order_acquire) : *made)) {
        while (atomicCAS(lock, 0, 1) != 0) continue;
        __threadfence();
        if (!is_made.load(cuda::memory_order_relaxed)) {
            *table = 42;
            is_made.store(1, cuda::memory_order_release);
        }
        __threadfence();
        atomicExch(lock, 0);
    }
    out[blockIdx.x] = *table;
}
PAIR(race_double_checked<right>, 8, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1), zeros<int>(8))

/* race-flag — block 0 passes a value to block 1 by a flag, which is released and acquired, or only
 * volatile. */
template <bool right> __global__ void race_flag(int *value, int *flag, int *out)
{
    word signal(*flag);
    volatile int *plain = flag;
    if (blockIdx.x == 0) {
        *value = 42;
        if (right)
            signal.store(1, cuda::memory_order_release);
        else
            *plain = 1;
    } else {
        if (right)
            while (signal.load(cuda::memory_order_acquire) == 0) continue;
        else
            while (*plain == 0) continue;
        *out = *value;
    }
}
PAIR(race_flag<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1))

/* race-flag-relaxed — a flag between blocks that is released and acquired; relaxed, it orders
 * nothing. */
template <bool right> __global__ void race_flag_relaxed(int *data, int *flag)
{
    constexpr auto stores = right ? cuda::memory_order_release : cuda::memory_order_relaxed;
    constexpr auto loads = right ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
    word signal(*flag);
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = 42;
        signal.store(1, stores);
    } else {
        while (signal.load(loads) == 0) continue;
        data[1] = data[0]; /* racecheck: RAW hazard at __global__; racecheck: second launch */
    }
}
PAIR(race_flag_relaxed<right>, 2, 32, numbers<int>(2), zeros<int>(1))

/* race-flag-scope — a value for another block is released and acquired with the scope of the
 * device. The scope of a block does not reach the other block. */
template <bool right> __global__ void race_flag_scope(int *flag, int *value, int *out)
{
    constexpr auto scope = right ? cuda::thread_scope_device : cuda::thread_scope_block;
    cuda::atomic_ref<int, scope> signal(*flag);
    if (blockIdx.x == 0) {
        *value = 42;
        signal.store(1, cuda::memory_order_release);
    } else {
        while (signal.load(cuda::memory_order_acquire) == 0) continue;
        *out = *value;
    }
}
PAIR(race_flag_scope<right>, 2, 1, zeros<int>(1), zeros<int>(1), zeros<int>(1))

/* race-grid — a cooperative grid: block.sync() orders a block, grid.sync() all of them. */
template <bool right> __global__ void race_grid(int *words, int *out)
{
    int own = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    words[own] = own;
    if (right)
        cg::this_grid().sync();
    else
        cg::this_thread_block().sync();
    out[own] = words[all - 1 - own];
}
COOPERATIVE(race_grid<right>, 4, 64, zeros<int>(4 * 64), zeros<int>(4 * 64))

/* race-grid-once — a cooperative grid in a loop. It needs a grid.sync() behind the stores, and one
 * behind the loads, before the words are stored to again. */
template <bool right> __global__ void race_grid_once(int *words)
{
    auto grid = cg::this_grid();
    int own = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (int turn = 0; turn < 3; turn++) {
        int next = words[(own + blockDim.x) % all];
        if (right) grid.sync();
        words[own] = next + 1;
        grid.sync();
    }
}
COOPERATIVE(race_grid_once<right>, 4, 64, numbers<int>(4 * 64))

/* race-latch — a latch of libcu++: count_down() signals that one thread has arrived, wait() waits
 * for all of them. */
template <bool right> __global__ void race_latch(int *out)
{
    __shared__ int words[128];
    __shared__ alignas(latch) char memory[sizeof(latch)]; // it has no constructor without a count
    latch &all = *(latch *)memory;
    if (threadIdx.x == 0) new (&all) latch(blockDim.x);
    __syncthreads();
    words[threadIdx.x] = threadIdx.x;
    all.count_down();
    if (right) all.wait();
    out[threadIdx.x] = words[127 - threadIdx.x];
}
PAIR(race_latch<right>, 1, 128, zeros<int>(128))

/* race-memcpy-async — a group's copy that arrives at a barrier of libcu++ is complete for threads
 * that have waited there. */
template <bool right> __global__ void race_memcpy_async(int *out, const int *in)
{
    __shared__ int words[128];
    __shared__ block_barrier full;
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&full, blockDim.x);
    block.sync();
    cuda::memcpy_async(block, words, in, sizeof words, full);
    auto token = full.arrive();
    if (right) full.wait(std::move(token));
    out[threadIdx.x] = words[127 - threadIdx.x];
    if (!right) full.wait(std::move(token));
}
PAIR(race_memcpy_async<right>, 1, 128, zeros<int>(128), zeros<int>(128))

/* race-ring-library — the ring of race-ring with NVIDIA's own barriers and copies (libcu++), as in
 * the CUDA programming guide. */
template <bool right> __global__ void race_ring_library(int *out, const int *in, int tiles)
{
    enum { STAGES = 2, READERS = 96 }; // threads
    __shared__ __align__(16) int words[STAGES][32];
    __shared__ block_barrier full[STAGES], empty[STAGES];
    int sum = 0;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            init(&full[i], 1 + READERS);
            init(&empty[i], 1 + READERS);
        }
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    if (threadIdx.x == READERS)
        for (int tile = 0; tile < tiles; tile++) {
            int stage = tile % STAGES;
            empty[stage].arrive_and_wait();
            cuda::device::memcpy_async_tx(words[stage], in + tile * 32,
                                          cuda::aligned_size_t<16>(sizeof words[stage]),
                                          full[stage]);
            (void)cuda::device::barrier_arrive_tx(full[stage], 1, sizeof words[stage]);
        }
    if (threadIdx.x < READERS) {
        for (int i = 0; i < STAGES; i++) (void)empty[i].arrive();
        for (int tile = 0; tile < tiles; tile++) {
            int stage = tile % STAGES;
            full[stage].arrive_and_wait();
            if (!right) (void)empty[stage].arrive();
            sum += words[stage][threadIdx.x % 32];
            if (right) (void)empty[stage].arrive();
        }
    }
    out[threadIdx.x] = sum;
}
PAIR(race_ring_library<right>, 1, 128, zeros<int>(128), zeros<int>(16 * 32), 16)

/* race-semaphore — a semaphore of libcu++ that admits one block. The counter must be stored before
 * the semaphore is released. */
using semaphore = cuda::binary_semaphore<cuda::thread_scope_device>;
__device__ semaphore door{1};
template <bool right> __global__ void race_semaphore(int *counter)
{
    door.acquire();
    int now = *counter + 1;
    if (right) *counter = now;
    door.release();
    if (!right) *counter = now;
}
PAIR(race_semaphore<right>, 8, 1, zeros<int>(1))

/* race-seqlock — a reader loads two words, and loads a version number before and behind them, to
 * notice a writer. The numbers need fences around the words. */
constexpr auto relaxed = cuda::memory_order_relaxed;
template <bool right> __device__ void fence(cuda::memory_order order)
{
    if (right) cuda::atomic_thread_fence(order, cuda::thread_scope_device);
}
template <bool right> __global__ void race_seqlock(int *turn, int *pair, int *out)
{
    word now(*turn), a(pair[0]), b(pair[1]);
    if (blockIdx.x == 0) {
        now.store(1, relaxed);
        fence<right>(cuda::memory_order_release);
        a.store(5, relaxed);
        b.store(5, relaxed);
        fence<right>(cuda::memory_order_release);
        now.store(2, relaxed);
        return;
    }
    int before, x, y;
    do {
        before = now.load(relaxed);
        fence<right>(cuda::memory_order_acquire);
        x = a.load(relaxed);
        y = b.load(relaxed);
        fence<right>(cuda::memory_order_acquire);
    } while (before < 2 || now.load(relaxed) != before);
    out[blockIdx.x] = x - y;
}
PAIR(race_seqlock<right>, 4, 1, zeros<int>(1), zeros<int>(2), zeros<int>(4))

/* race-slot-atomic — one block passes values to another through one slot, by release and acquire.
 * The way back, from the reader to the next store, needs them as well. */
template <bool right> __global__ void race_slot_atomic(int *slot, int *counts, int *out)
{
    word full(counts[0]), read(counts[1]);
    for (int i = 1; i <= 4; i++)
        if (blockIdx.x == 0) {
            while (right && read.load(cuda::memory_order_acquire) < i - 1) continue;
            *slot = i;
            full.fetch_add(1, cuda::memory_order_release);
        } else {
            while (full.load(cuda::memory_order_acquire) < i) continue;
            out[i - 1] = *slot;
            read.fetch_add(1, cuda::memory_order_release);
        }
}
PAIR(race_slot_atomic<right>, 2, 1, zeros<int>(1), zeros<int>(2), zeros<int>(4))

/* race-stages — a pipeline of libcu++ for a block, with one stage: consumer_wait() waits for its
 * copies. */
template <bool right> __global__ void race_stages(int *out, const int *in)
{
    __shared__ int words[128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    for (int tile = 0; tile < 4; tile++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&words[threadIdx.x], &in[tile * 128 + threadIdx.x], sizeof(int), pipe);
        pipe.producer_commit();
        if (right) pipe.consumer_wait();
        out[threadIdx.x] += words[127 - threadIdx.x];
        if (!right) pipe.consumer_wait();
        pipe.consumer_release();
    }
}
PAIR(race_stages<right>, 1, 128, zeros<int>(128), zeros<int>(4 * 128))

/* race-stages-roles — a pipeline of libcu++ in which the first warp copies and the others read: a
 * stage may be released only after it has been read. */
template <bool right> __global__ void race_stages_roles(const int *in, int *out)
{
    enum { STAGES = 2, TILES = 6 };
    __shared__ int words[STAGES][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    bool copies = threadIdx.x < 32;
    auto pipe =
        cuda::make_pipeline(cg::this_thread_block(), &state,
                            copies ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int tile = 0; tile < TILES; tile++) {
        int *stage = words[tile % STAGES], lane = threadIdx.x % 32;
        if (copies) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[lane], &in[tile * 32 + lane], sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            if (!right) pipe.consumer_release();
            out[tile * 128 + threadIdx.x] = stage[31 - lane]; /* racecheck: hazard at __shared__ */
            if (right) pipe.consumer_release();
        }
    }
}
PAIR(race_stages_roles<right>, 1, 128, numbers<int>(6 * 32), zeros<int>(6 * 128))

/* race-stages-sizes — pipelines of libcu++ for blocks of several sizes, with one to three stages: a
 * stage may be read until consumer_release(). Each warp's first lane counts the threads that leave,
 * and the last one invalidates the pipeline's barriers. */
enum { TILES = 5, MOST = 128 };
template <bool right, int stages> __global__ void race_stages_sizes(const int *in, int *out)
{
    __shared__ int words[stages][MOST];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    for (int tile = 0, next = 0; tile < TILES; tile++) {
        for (; next < TILES && next < tile + stages; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&words[next % stages][threadIdx.x],
                               &in[next * blockDim.x + threadIdx.x], sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        if (!right) pipe.consumer_release();
        int *to = out + (blockIdx.x * TILES + tile) * MOST;
        /* racecheck: hazard at __shared__ */
        to[threadIdx.x] = words[tile % stages][blockDim.x - 1 - threadIdx.x];
        if (right) pipe.consumer_release();
    }
}
HOST(race_stages_sizes)
{
    int *in = numbers<int>(TILES * MOST), *out = zeros<int>(2 * TILES * MOST);
    for (int threads = 32; threads <= MOST; threads += 32) {
        race_stages_sizes<right, 1><<<2, threads>>>(in, out);
        race_stages_sizes<right, 2><<<2, threads>>>(in, out);
        race_stages_sizes<right, 3><<<2, threads>>>(in, out);
    }
}

/* race-stages-thread — a pipeline of libcu++ for one thread waits for that thread's copies. The
 * block also needs a barrier. */
template <bool right> __global__ void race_stages_thread(int *out, const int *in)
{
    __shared__ int words[2][128];
    auto pipe = cuda::make_pipeline();
    for (int tile = 0; tile < 4; tile++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&words[tile % 2][threadIdx.x], &in[tile * 128 + threadIdx.x],
                           sizeof(int), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        if (right) __syncthreads();
        out[threadIdx.x] += words[tile % 2][127 - threadIdx.x];
        pipe.consumer_release();
    }
}
PAIR(race_stages_thread<right>, 1, 128, zeros<int>(128), zeros<int>(4 * 128))

/* race-tile — a cooperative group's sync orders that group only: a tile of 32, not the block. */
template <bool right> __global__ void race_tile(int *out)
{
    __shared__ int words[128];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    words[threadIdx.x] = threadIdx.x;
    if (right)
        block.sync();
    else
        tile.sync();
    out[threadIdx.x] = words[127 - threadIdx.x];
}
PAIR(race_tile<right>, 1, 128, zeros<int>(128))

/* race-tile-sum — tiles of 8 lanes have barriers of their own, which are enough for a sum within a
 * tile. They do not order accesses to the words of the next tile. */
template <bool right> __global__ void race_tile_sum(int *data)
{
    __shared__ int words[256];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    words[threadIdx.x] = data[threadIdx.x];
    tile.sync();
    for (int step = right ? 4 : 0; step > 0; step /= 2) {
        int word = tile.thread_rank() < step ? words[threadIdx.x + step] : 0;
        tile.sync();
        words[threadIdx.x] += word;
        tile.sync();
    }
    /* racecheck: RAW hazard at __shared__; racecheck: __syncwarp() */
    data[threadIdx.x] = words[right ? threadIdx.x : threadIdx.x ^ 8];
}
PAIR(race_tile_sum<right>, 1, 256, numbers<int>(256))

/* race-tile-wide — a tile of 64 threads, two warps, meets at a barrier in shared memory, and its
 * threads find their sum there. The sync orders that tile, and not the block. */
template <bool right> __global__ void race_tile_wide(int *out)
{
    __shared__ cg::block_tile_memory<128> memory;
    __shared__ int words[128];
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    words[threadIdx.x] = threadIdx.x;
    tile.sync();
    int other = words[threadIdx.x ^ (right ? 63 : 127)];
    out[threadIdx.x] = cg::reduce(tile, other, cg::plus<int>()) + tile.shfl(other, 40);
}
PAIR(race_tile_wide<right>, 1, 128, zeros<int>(128))

/* sync-arrivals — a barrier object for 32 arrivals is used by 64 threads, so each warp passes it
 * alone. */
template <bool right> __global__ void sync_arrivals(int *out)
{
    __shared__ int words[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> meeting;
    if (threadIdx.x == 0) init(&meeting, right ? 64 : 32);
    words[threadIdx.x] = 0;
    __syncthreads();
    words[threadIdx.x] = threadIdx.x;
    meeting.arrive_and_wait();
    out[threadIdx.x] = words[63 - threadIdx.x]; /* racecheck: hazard */
}
PAIR(sync_arrivals<right>, 1, 64, zeros<int>(64))

/* sync-cluster — a block arrives twice at the cluster's barrier without a wait between. */
template <bool right> __global__ void __cluster_dims__(2) sync_cluster(int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    cluster.barrier_arrive();
    if (right) cluster.barrier_wait();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    cluster.barrier_arrive(); /* synccheck, memcheck: a second barrier.cluster.arrive */
    cluster.barrier_wait();
}
PAIR(sync_cluster<right>, 2, 32, zeros<int>(64))

/* sync-grid — grid.sync() needs a cooperative launch. */
__global__ void sync_grid(int *out)
{
    cooperative_groups::this_grid().sync(); /* memcheck: stopped itself with a trap */
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
MAIN(sync_grid)
{
    int *out = zeros<int>(64);
    void *arguments[] = {&out};
    if (right)
        cudaLaunchCooperativeKernel(sync_grid, 2, 32, arguments);
    else
        sync_grid<<<2, 32>>>(out);
    cudaDeviceSynchronize(); /* memcheck: cudaErrorLaunchFailure */
    cudaFree(out);
}

/* sync-tile — 15 of 16 lanes take part in a shuffle of their tile. */
template <bool right> __global__ void sync_tile(const int *in, int *out)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int lanes = right ? 16 : 15, value = in[threadIdx.x];
    if (tile.thread_rank() < lanes)
        for (int d = 8; d > 0; d /= 2) value += tile.shfl_down(value, d); /* synccheck: exited */
    if (threadIdx.x < lanes) out[threadIdx.x] = value;
}
PAIR(sync_tile<right>, 1, 32, zeros<int>(32), zeros<int>(32))
