/* race.cu — pairs: hazards between the threads of a block. pair.h says how a pair is written. */
#include "pair.h"

/* Named barriers. */
#define ARRIVE(number, threads)                                                                    \
    asm volatile("bar.arrive %0, %1;" ::"n"(number), "n"(threads) : "memory")
#define WAIT(number, threads)                                                                      \
    asm volatile("bar.sync %0, %1;" ::"n"(number), "n"(threads) : "memory")

/* race-arms — one half of a warp stores, the other half loads. The arms of an if have no order:
 * __syncwarp() makes one. */
template <bool right> __global__ void race_arms(int *out)
{
    __shared__ int words[16];
    int lane = threadIdx.x;
    if (lane < 16) words[lane] = lane;
    if (right) __syncwarp();
    if (lane >= 16) out[lane - 16] = words[31 - lane];
}
PAIR(race_arms<right>, 1, 32, zeros<int>(16))

/* race-bits — each thread sets a bit of its own, but 32 threads share a word: a load, an or and a
 * store lose bits of other threads. */
template <bool right> __global__ void race_bits(unsigned *out)
{
    __shared__ unsigned words[4];
    if (threadIdx.x < 4) words[threadIdx.x] = 0;
    __syncthreads();
    unsigned bit = 1u << threadIdx.x % 32;
    if (right)
        atomicOr(&words[threadIdx.x / 32], bit);
    else
        words[threadIdx.x / 32] |= bit;
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = words[threadIdx.x];
}
PAIR(race_bits<right>, 1, 128, zeros<unsigned>(4))

/* race-broadcast — in each turn thread 0 stores the number of the next tile for its block. It may
 * do so only when all threads have read the last number. */
template <bool right> __global__ void race_broadcast(int *next, int *out)
{
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(next, 1);
        __syncthreads();
        int mine = tile;
        if (right) __syncthreads();
        if (mine >= 16) return;
        out[mine * 64 + threadIdx.x] = mine;
    }
}
PAIR(race_broadcast<right>, 2, 64, zeros<int>(1), zeros<int>(16 * 64))

/* race-buffers — a scan with two buffers, one to read and one to write, needs one barrier a turn.
 * With one buffer it needs two. */
template <bool right> __global__ void race_buffers(const int *in, int *out)
{
    __shared__ int words[2][128];
    int from = 0, i = threadIdx.x;
    words[0][i] = in[i];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        int to = right ? 1 - from : from;
        words[to][i] = words[from][i] + (i >= step ? words[from][i - step] : 0);
        __syncthreads();
        from = to;
    }
    out[i] = words[from][i];
}
PAIR(race_buffers<right>, 1, 128, numbers<int>(128), zeros<int>(128))

/* race-bytes — neighbouring bytes are not the same byte, although they lie in one word. */
template <bool right> __global__ void race_bytes(int *out)
{
    __shared__ char bytes[260];
    bytes[threadIdx.x] = (char)threadIdx.x;
    /* racecheck: RAW hazard at __shared__; racecheck: __syncwarp(); initcheck: Uninitialized */
    out[threadIdx.x] = bytes[threadIdx.x + !right];
}
PAIR(race_bytes<right>, 1, 256, zeros<int>(256))

/* race-exited-warp — a warp stores its words and exits. The barrier goes on without it, and so does
 * not order its stores before the loads of the others. */
template <bool right> __global__ void race_exited_warp(int *out)
{
    __shared__ int words[64];
    words[threadIdx.x] = threadIdx.x;
    if (!right && threadIdx.x >= 32) return;
    __syncthreads(); /* synccheck: Barrier without warps */
    /* racecheck: Race reported */
    out[threadIdx.x] = words[63 - threadIdx.x];
}
PAIR(race_exited_warp<right>, 1, 64, zeros<int>(64))

/* race-flag-shared — a flag in shared memory from one warp to another. Its warp needs a fence. */
template <bool right> __global__ void race_flag_shared(int *data)
{
    __shared__ int words[32];
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        words[threadIdx.x] = data[threadIdx.x];
        if (right) __threadfence_block();
        __syncwarp();
        if (threadIdx.x == 0) ready = 1;
    } else {
        while (!ready) continue;
        /* racecheck: RAW hazard at __shared__; racecheck: __syncthreads; strict readers: hazard */
        data[threadIdx.x] = words[threadIdx.x - 32];
    }
}
PAIR(race_flag_shared<right>, 1, 64, numbers<int>(64))

/* race-heap — memory that a thread has freed belongs to the next thread that allocates it, and to
 * no thread before. Memory that is handed on needs a barrier. */
template <bool right> __global__ void race_heap(int *data)
{
    __shared__ int *words[512];
    for (int turn = 0; turn < 20; turn++) {
        int *own = (int *)malloc(1000);
        words[threadIdx.x] = own;
        if (!own) return;
        own[0] = threadIdx.x;
        /* racecheck: RAW hazard */
        int *from = right ? own : words[threadIdx.x ^ 1];
        data[blockIdx.x * blockDim.x + threadIdx.x] += from ? from[0] : 0;
        free(own);
    }
}
PAIR(race_heap<right>, 4, 512, numbers<int>(2048))

/* race-histogram — counting in shared memory needs atomics. */
template <bool right> __global__ void race_histogram(const unsigned char *in, int *out)
{
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    int bin = in[threadIdx.x] % 16;
    if (right)
        atomicAdd(&bins[bin], 1);
    else
        bins[bin]++; /* racecheck: WAW hazard; racecheck: takes an atomic */
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
PAIR(race_histogram<right>, 1, 256, zeros<unsigned char>(256), zeros<int>(16))

/* race-histogram-zero — counters are set to 0 by some threads, and others already add to them. */
template <bool right> __global__ void race_histogram_zero(const int *in, int *out)
{
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    if (right) __syncthreads();
    /* racecheck: WAW hazard at __shared__; racecheck: __syncthreads() */
    atomicAdd(&bins[in[threadIdx.x] % 64], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
PAIR(race_histogram_zero<right>, 4, 256, numbers<int>(256), zeros<int>(64))

/* race-lock-shared — a lock in shared memory, between the warps of a block, needs fences as
 * well. */
template <bool right> __global__ void race_lock_shared(int *out)
{
    __shared__ int lock, counter;
    if (threadIdx.x == 0) lock = counter = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) continue;
        if (right) __threadfence_block();
        counter += 1;
        if (right) __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) *out = counter;
}
PAIR(race_lock_shared<right>, 1, 256, zeros<int>(1))

/* race-loop — the word is read and, in the next turn, overwritten: a second barrier lies
 * between. */
template <bool right> __global__ void race_loop(int *out)
{
    __shared__ int words[256];
    int mine = threadIdx.x;
    for (int turn = 0; turn < 4; turn++) {
        words[threadIdx.x] = mine;
        __syncthreads();
        mine = words[(threadIdx.x + 1) % 256];
        if (right) __syncthreads();
    }
    out[threadIdx.x] = mine;
}
PAIR(race_loop<right>, 1, 256, zeros<int>(256))

/* race-loop-warp — lanes of a warp exchange words in a loop. The barrier lies after the stores; one
 * must also lie after the loads. */
template <bool right> __global__ void race_loop_warp(int *data)
{
    __shared__ int words[256];
    int word = data[threadIdx.x], next = threadIdx.x / 32 * 32 + (threadIdx.x + 1) % 32;
    for (int turn = 0; turn < 4; turn++) {
        /* racecheck: WAR hazard at __shared__; racecheck: __syncwarp() */
        words[threadIdx.x] = word;
        __syncthreads();
        word = words[next];
        if (right) __syncthreads();
    }
    data[threadIdx.x] = word;
}
PAIR(race_loop_warp<right>, 1, 256, numbers<int>(256))

/* race-mask — __syncwarp() orders the lanes of its mask: here those of one half of the warp. */
template <bool right> __global__ void race_mask(int *out)
{
    __shared__ int words[32];
    words[threadIdx.x] = threadIdx.x;
    __syncwarp(threadIdx.x < 16 ? 0xffff : 0xffff0000);
    out[threadIdx.x] = words[right ? threadIdx.x ^ 15 : 31 - threadIdx.x];
}
PAIR(race_mask<right>, 1, 32, zeros<int>(32))

/* race-named — each half of a block has a named barrier of its own, which orders that half. */
template <bool right> __global__ void race_named(int *out)
{
    __shared__ int words[256];
    words[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync %0, 128;" ::"r"(1 + threadIdx.x / 128) : "memory");
    /* racecheck: RAW hazard at __shared__; racecheck: __syncthreads(); initcheck: Uninitialized */
    out[threadIdx.x] = words[threadIdx.x ^ (right ? 127 : 255)];
}
PAIR(race_named<right>, 1, 256, zeros<int>(256))

/* race-named-full — one half of a block stores, the other half loads. A barrier signals that the
 * words are stored; another one must signal that they have been read. */
template <bool right> __global__ void race_named_full(int *data)
{
    __shared__ int words[128];
    int i = threadIdx.x % 128;
    for (int turn = 0; turn < 3; turn++)
        if (threadIdx.x < 128) {
            if (right && turn > 0) WAIT(2, 256);
            /* racecheck: WAR hazard at __shared__; racecheck: __syncthreads() */
            words[i] = turn + i;
            if (right)
                ARRIVE(1, 256);
            else
                WAIT(1, 256);
        } else {
            WAIT(1, 256);
            data[i] += words[i ^ 32];
            if (right && turn < 2) ARRIVE(2, 256);
        }
}
PAIR(race_named_full<right>, 1, 256, numbers<int>(128))

/* race-named-ring — one half of a block stores, the other half loads, by two named barriers: one
 * signals that the words are stored, one that they have been read. */
template <bool right> __global__ void race_named_ring(int *out)
{
    __shared__ int words[64];
    int i = threadIdx.x % 64;
    for (int turn = 0; turn < 4; turn++)
        if (threadIdx.x < 64) {
            if (turn > 0 && right) WAIT(2, 128);
            words[i] = turn;
            if (turn > 0 && !right) WAIT(2, 128);
            ARRIVE(1, 128);
        } else {
            WAIT(1, 128);
            out[i] += words[63 - i];
            if (turn < 3) ARRIVE(2, 128);
        }
}
PAIR(race_named_ring<right>, 1, 128, zeros<int>(64))

/* race-neighbour — a thread reads its neighbour's word, which must have been written. */
template <bool right> __global__ void race_neighbour(int *out)
{
    __shared__ int words[256];
    words[threadIdx.x] = threadIdx.x;
    if (right) __syncthreads();
    out[threadIdx.x] = words[(threadIdx.x + 1) % 256];
}
PAIR(race_neighbour<right>, 1, 256, zeros<int>(256))

/* race-reduction — a tree of sums: each level reads what the level before has written. */
template <bool right> __global__ void race_reduction(const int *in, int *out)
{
    __shared__ int words[256];
    words[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        /* racecheck: RAW hazard; racecheck: missing between them? */
        if (threadIdx.x < step) words[threadIdx.x] += words[threadIdx.x + step];
        if (right) __syncthreads();
    }
    if (threadIdx.x == 0) *out = words[0];
}
PAIR(race_reduction<right>, 1, 256, zeros<int>(256), zeros<int>(1))

/* race-scan — a naive scan in place: it needs two buffers, or a barrier between reading and
 * writing. */
template <bool right> __global__ void race_scan(const int *in, int *out)
{
    __shared__ int words[256];
    words[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int offset = 1; offset < 256; offset *= 2) {
        int value = words[threadIdx.x];
        if (threadIdx.x >= offset) value += words[threadIdx.x - offset];
        if (right) __syncthreads();
        /* racecheck: hazard at __shared__; racecheck: __syncthreads() */
        words[threadIdx.x] = value;
        __syncthreads();
    }
    out[threadIdx.x] = words[threadIdx.x];
}
PAIR(race_scan<right>, 1, 256, numbers<int>(256), zeros<int>(256))

/* race-scratch — two sums of a block, one after the other, in the same shared memory: a barrier
 * must lie between them. */
__device__ int block_sum(int value, int *warps)
{
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < blockDim.x / 32; i++) sum += warps[i];
    return sum;
}
template <bool right> __global__ void race_scratch(const int *in, int *out)
{
    __shared__ int warps[8];
    int value = in[threadIdx.x], sum = block_sum(value, warps);
    if (right) __syncthreads();
    out[threadIdx.x] = sum + block_sum(value * value, warps);
}
PAIR(race_scratch<right>, 1, 256, numbers<int>(256), zeros<int>(256))

/* race-shuffle — a shuffle exchanges registers, and orders no memory. */
template <bool right> __global__ void race_shuffle(int *out)
{
    __shared__ int words[32];
    words[threadIdx.x] = threadIdx.x;
    int next = __shfl_down_sync(~0u, threadIdx.x, 1);
    if (right) __syncwarp();
    /* racecheck: RAW hazard at __shared__; racecheck: __syncwarp() */
    out[threadIdx.x] = words[threadIdx.x ^ 1] + next;
}
PAIR(race_shuffle<right>, 1, 32, zeros<int>(32))

/* race-slot-warps — one warp of a block passes words to another through shared memory. The first
 * must wait until the second has read them. */
template <bool right> __global__ void race_slot_warps(int *out)
{
    __shared__ int words[32];
    __shared__ volatile int full, read;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) full = read = 0;
    __syncthreads();
    for (int i = 1; i <= 4; i++)
        if (threadIdx.x < 32) {
            while (right && read < i - 1) continue;
            __threadfence_block();
            words[lane] = i;
            __threadfence_block();
            __syncwarp();
            if (lane == 0) full = i;
        } else {
            while (full < i) continue;
            __threadfence_block();
            out[lane] += words[lane];
            __threadfence_block();
            __syncwarp();
            if (lane == 0) read = i;
        }
}
PAIR(race_slot_warps<right>, 1, 64, zeros<int>(32))

/* race-syncwarp — __syncwarp orders the lanes of a warp, not the warps of a block. */
template <bool right> __global__ void race_syncwarp(int *out)
{
    __shared__ int words[64];
    words[threadIdx.x] = threadIdx.x;
    __syncwarp();
    int other = right ? threadIdx.x ^ 31 : 63 - threadIdx.x;
    out[threadIdx.x] = words[other];
}
PAIR(race_syncwarp<right>, 1, 64, zeros<int>(64))

/* race-up-sweep — the first half of a work-efficient scan: each level adds sums of the level
 * before. */
template <bool right> __global__ void race_up_sweep(int *data)
{
    __shared__ int words[512];
    int i = threadIdx.x;
    words[2 * i] = data[2 * i];
    words[2 * i + 1] = data[2 * i + 1];
    for (int pairs = 256, step = 1; pairs > 0; pairs /= 2, step *= 2) {
        if (right) __syncthreads();
        /* racecheck: RAW hazard at __shared__; racecheck: __syncthreads; initcheck: Uninit */
        if (i < pairs) words[step * (2 * i + 2) - 1] += words[step * (2 * i + 1) - 1];
    }
    __syncthreads();
    data[2 * i] = words[2 * i];
    data[2 * i + 1] = words[2 * i + 1];
}
PAIR(race_up_sweep<right>, 1, 256, numbers<int>(512))

/* race-warp — the last steps of a reduction in one warp, as they were written before Volta: since
 * Volta, lanes do not run in lockstep. */
template <bool right> __global__ void race_warp(const int *in, int *out)
{
    __shared__ volatile int words[64];
    int lane = threadIdx.x;
    words[lane] = in[lane];
    words[lane + 32] = in[lane + 32];
    if (right) __syncwarp();
    for (int step = 32; step > 0; step /= 2) {
        /* racecheck: RAW hazard at __shared__ */
        int value = words[lane] + words[lane + step];
        if (right) __syncwarp();
        /* racecheck: WAR hazard at __shared__; racecheck: __syncwarp() */
        words[lane] = value;
        if (right) __syncwarp();
    }
    if (lane == 0) *out = words[0];
}
PAIR(race_warp<right>, 1, 32, numbers<int>(64), zeros<int>(1))

/* race-warp-values — a reduction whose sums are also kept in registers. Lanes of a warp need a
 * __syncwarp() between their loads and stores, because they need not run in step. */
template <bool right> __global__ void race_warp_values(int *data)
{
    __shared__ int words[64];
    int lane = threadIdx.x, sum = data[lane];
    words[lane] = sum;
    words[lane + 32] = 0;
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
        sum += words[lane + step];
        if (right) __syncwarp();
        words[lane] = sum; /* racecheck: WAR hazard at __shared__; racecheck: __syncwarp() */
        if (right) __syncwarp();
    }
    data[lane] = sum;
}
PAIR(race_warp_values<right>, 1, 32, numbers<int>(32))

/* race-write-same — all threads may store the same value to one word, but not different ones. */
template <bool right> __global__ void race_write_same(int *data)
{
    __shared__ int found;
    found = 0;
    __syncthreads();
    if (data[threadIdx.x] >= 0) found = right ? 1 : threadIdx.x; /* racecheck: WAW hazard */
    __syncthreads();
    data[threadIdx.x] = found;
}
PAIR(race_write_same<right>, 1, 256, numbers<int>(256))

/* race-write-write — all threads write one word, and it depends on chance which value stays. */
template <bool right> __global__ void race_write_write(int *out)
{
    __shared__ int word;
    if (!right || threadIdx.x == 255) word = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = word;
}
PAIR(race_write_write<right>, 1, 256, zeros<int>(256))
