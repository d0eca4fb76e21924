/* deadlock.cu — pairs: threads that wait for each other, or for nothing. pair.h says how a pair is
 * written. */
#include "bulk.h"

__global__ void wait_for(volatile int *flag, int *out)
{
    while (*flag == 0) continue;
    *out = 1;
}

/* deadlock-arrivals — an mbarrier for 64 arrivals gets 63. */
__global__ void deadlock_arrivals(int *out, int arrivals)
{
    __shared__ barrier meeting;
    make_barriers(&meeting, 1, arrivals);
    if (threadIdx.x > 0) barrier_arrive(&meeting);
    barrier_wait(&meeting, 0); /* synccheck, memcheck: deadlock in barrier.cuh */
    out[threadIdx.x] = 1;
}
PAIR(deadlock_arrivals, 1, 64, zeros<int>(64), right ? 63 : 64)

/* deadlock-bytes — an mbarrier expects twice as many bytes as are copied. */
template <bool right> __global__ void deadlock_bytes(const int *in, int *out)
{
    __shared__ __align__(16) int words[64];
    __shared__ barrier full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_init_done();
        barrier_arrive_expect(&full, (right ? 1 : 2) * sizeof words);
        bulk_load(words, in, sizeof words, &full);
    }
    __syncthreads();
    barrier_wait(&full, 0); /* synccheck, memcheck: deadlock in barrier.cuh */
    out[threadIdx.x] = words[threadIdx.x];
}
PAIR(deadlock_bytes<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* deadlock-flag — a block waits for a flag that another block sets only if there is work. */
template <bool right> __global__ void deadlock_flag(volatile int *flag, int *out, int work)
{
    if (blockIdx.x == 0) {
        if (right || work > 0) *flag = 1;
    } else {
        while (*flag == 0) continue; /* memcheck: wait; synccheck: wait */
        *out = 1;
    }
}
PAIR(deadlock_flag<right>, 2, 1, zeros<int>(1), zeros<int>(1), 0)

/* deadlock-host — a kernel waits for a flag that the host sets after the kernel. */
MAIN(deadlock_host)
{
    int *flag, *out = zeros<int>(1);
    cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped);
    *flag = right;
    wait_for<<<1, 1>>>(flag, out); /* memcheck: wait; synccheck: wait in wait_for() */
    cudaDeviceSynchronize();
    *(volatile int *)flag = 1;
    cudaFree(out);
    cudaFreeHost(flag);
}

/* deadlock-named — a named barrier for 96 threads gets 64. */
__global__ void deadlock_named(int *out, int threads)
{
    /* synccheck, memcheck: 64 of 96 */
    if (threadIdx.x < 64) asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    out[threadIdx.x] = 1;
}
PAIR(deadlock_named, 1, 96, zeros<int>(96), right ? 64 : 96)

/* deadlock-parity — a stage is free at the beginning, but the writer waits until it has been given
 * back once. */
template <bool right> __global__ void deadlock_parity(const int *in, int *out, int tiles)
{
    __shared__ int words[32];
    __shared__ barrier full, empty;
    make_barriers(&full, 1, 32);
    make_barriers(&empty, 1, 32);
    if (threadIdx.x < 32)
        for (int t = 0; t < tiles; t++) {
            barrier_wait(&empty,
                         right ? ~t & 1 : t & 1); /* synccheck, memcheck: deadlock in barrier.cuh */
            words[threadIdx.x] = in[32 * t + threadIdx.x];
            barrier_arrive(&full);
        }
    else {
        int sum = 0;
        for (int t = 0; t < tiles; t++) {
            barrier_wait(&full, t & 1);
            sum += words[threadIdx.x - 32];
            barrier_arrive(&empty);
        }
        out[threadIdx.x - 32] = sum;
    }
}
PAIR(deadlock_parity<right>, 1, 64, zeros<int>(4 * 32), zeros<int>(32), 4)

/* deadlock-phases — an mbarrier for 32 arrivals gets 64, so the phase that the threads wait for is
 * over twice. */
__global__ void deadlock_phases(int *out, int arrivals)
{
    __shared__ barrier meeting;
    make_barriers(&meeting, 1, arrivals);
    barrier_arrive(&meeting);
    __syncthreads();
    barrier_wait(&meeting, 0); /* synccheck, memcheck: deadlock in barrier.cuh */
    out[threadIdx.x] = 1;
}
PAIR(deadlock_phases, 1, 64, zeros<int>(64), right ? 64 : 32)

/* deadlock-resident — every block waits for all others, and the GPU cannot hold all of them at the
 * same time. */
__global__ void deadlock_resident(int *arrived, int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        /* memcheck: have begun, and all that have not ended wait; synccheck: wait */
        while (*(volatile int *)arrived < gridDim.x) continue;
        __threadfence();
    }
    __syncthreads();
    out[blockIdx.x] = words[0];
}
HOST(deadlock_resident)
{
    enum { BYTES = 200 << 10 }; // one block on each multiprocessor
    int processors;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    int blocks = right ? processors : processors + 1;
    int *arrived = zeros<int>(1), *out = zeros<int>(blocks);
    cudaFuncSetAttribute(deadlock_resident, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    deadlock_resident<<<blocks, 32, BYTES>>>(arrived, out);
}

/* deadlock-ring — the readers of a ring never give a stage back to its writer. */
template <bool right> __global__ void deadlock_ring(const int *in, int *out, int tiles)
{
    enum { RING = 2 };
    __shared__ __align__(16) int words[RING][32];
    __shared__ barrier full[RING], empty[RING];
    make_barriers(full, RING, 1);
    make_barriers(empty, RING, 32);
    if (threadIdx.x == 32)
        for (int t = 0; t < tiles; t++) {
            /* synccheck, memcheck: deadlock in barrier.cuh */
            if (t >= RING) barrier_wait(&empty[t % RING], (t / RING - 1) & 1);
            bulk_fetch(words[t % RING], in + 32 * t, sizeof words[0], &full[t % RING]);
        }
    if (threadIdx.x < 32) {
        int sum = 0;
        for (int t = 0; t < tiles; t++) {
            barrier_wait(&full[t % RING], t / RING & 1);
            sum += words[t % RING][threadIdx.x];
            if (right) barrier_arrive(&empty[t % RING]);
        }
        out[threadIdx.x] = sum;
    }
}
PAIR(deadlock_ring<right>, 1, 64, zeros<int>(8 * 32), zeros<int>(32), 8)

/* deadlock-roles — two warps wait at two barriers, in opposite order. */
template <bool right> __global__ void deadlock_roles(int *out)
{
    __shared__ int words[32];
    if (threadIdx.x < 32) {
        words[threadIdx.x] = threadIdx.x;
        asm volatile("bar.sync 1, 64;" ::: "memory"); /* synccheck, memcheck: deadlock */
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        if (right) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[threadIdx.x] = words[threadIdx.x - 32];
            asm volatile("bar.sync 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            out[threadIdx.x] = words[threadIdx.x - 32];
            asm volatile("bar.sync 1, 64;" ::: "memory");
        }
    }
}
PAIR(deadlock_roles<right>, 1, 64, zeros<int>(64))

/* deadlock-shuffle — lane 0 waits at a barrier of the block, and its warp waits for lane 0 at a
 * shuffle. */
template <bool right> __global__ void deadlock_shuffle(int *out)
{
    int value = threadIdx.x;
    if (!right && threadIdx.x == 0)
        __syncthreads();
    else
        value = __shfl_sync(0xffffffff, value, 1); /* synccheck, memcheck: deadlock */
    if (right) __syncthreads();
    out[threadIdx.x] = value;
}
PAIR(deadlock_shuffle<right>, 1, 64, zeros<int>(64))

/* deadlock-spin — thread 0 polls a counter that the other threads change only behind the next
 * barrier. */
template <bool right> __global__ void deadlock_spin(volatile int *done, int *out)
{
    bool first = !right && threadIdx.x == 0;
    while (first && *done < 3) continue; /* memcheck: wait; synccheck: wait */
    __syncthreads();
    if (threadIdx.x % 32 == 0) atomicAdd((int *)done, 1);
    __syncthreads();
    out[threadIdx.x] = *done;
}
PAIR(deadlock_spin<right>, 1, 128, zeros<int>(1), zeros<int>(128))

/* deadlock-stream — a kernel waits for a flag that the next kernel of the same stream sets. */
__global__ void deadlock_stream(int *flag) { *flag = 1; }
HOST(deadlock_stream)
{
    int *flag = zeros<int>(1), *out = zeros<int>(1);
    if (right) deadlock_stream<<<1, 1>>>(flag);
    wait_for<<<1, 1>>>(flag, out); /* memcheck: wait; synccheck: wait in wait_for() */
    deadlock_stream<<<1, 1>>>(flag);
}

/* deadlock-successor — a block waits for a later block, which may be unable to begin until the
 * first one has ended. */
template <bool right> __global__ void deadlock_successor(volatile int *done, int *ticket, int *out)
{
    extern __shared__ int words[];
    int place = right ? atomicAdd(ticket, 1) : gridDim.x - 1 - blockIdx.x;
    words[0] = place;
    if (place > 0) {
        /* memcheck: have begun, and all that have not ended wait; synccheck: wait */
        while (done[place - 1] == 0) continue;
    }
    out[place] = words[0];
    __threadfence();
    done[place] = 1;
}
HOST(deadlock_successor)
{
    enum { BYTES = 200 << 10 }; // one block on each multiprocessor
    int processors;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    int blocks = 2 * processors, *done = zeros<int>(blocks), *out = zeros<int>(blocks);
    int *ticket = zeros<int>(1);
    auto kernel = right ? deadlock_successor<true> : deadlock_successor<false>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
    kernel<<<blocks, 1, BYTES>>>(done, ticket, out);
}
