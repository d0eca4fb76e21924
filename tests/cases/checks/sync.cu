/* sync.cu — pairs: barriers, shuffles and votes that not all threads reach. pair.h says how a pair
 * is written. */
#include "bulk.h"
#include "matrix.cuh"

/* What several pairs launch. */
__global__ void meet_at_one(int *out, int threads)
{
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    out[threadIdx.x] = 1;
}

/* Barriers of one line of the source, which are different barriers: of both arms of an if, as they
 * are in a macro, and in functions that are called twice. Of the threads, `size` in turn take one
 * arm. */
#define STORE_IN_ARMS(condition)                                                                   \
    if (condition) {                                                                               \
        out[threadIdx.x] = 1;                                                                      \
        __syncthreads();                                                                           \
    } else {                                                                                       \
        __syncthreads();                                                                           \
        out[threadIdx.x] = 2;                                                                      \
    }
__global__ void store_in_arms(int *out, int size) { STORE_IN_ARMS(threadIdx.x / size % 2); }

static __device__ __forceinline__ int exchange(int *words, int value)
{
    words[threadIdx.x] = value;
    __syncthreads();
    return words[threadIdx.x ^ 1];
}

static __device__ __forceinline__ int exchange_next(int *words, int value)
{
    return exchange(words, value + 1);
}

/* Two calls, in two arms, execute the same barrier of the source. */
__global__ void exchange_in_arms(int *out, int size)
{
    __shared__ int words[64];
    if (threadIdx.x / size % 2)
        out[threadIdx.x] = exchange_next(words, 1);
    else
        out[threadIdx.x] = exchange_next(words, 5) * 3;
}

/* Two calls, one after the other, execute the same barrier of the source. */
__global__ void exchange_in_turn(int *out, int size)
{
    __shared__ int words[64];
    int value = 0;
    if (threadIdx.x / size % 2) value = exchange_next(words, 1);
    out[threadIdx.x] = value;
    if (threadIdx.x / size % 2 == 0) value = exchange_next(words, 5) * 3;
    out[threadIdx.x] += value;
}

/* sync-against-shuffle — lane 0 waits for its block at a barrier, and the other lanes wait for lane
 * 0 at a shuffle. */
template <bool right> __global__ void sync_against_shuffle(int *out)
{
    int value = threadIdx.x;
    if (!right && threadIdx.x == 0) __syncthreads();
    /* synccheck, memcheck: Divergent thread(s) in warp */
    if (right || threadIdx.x > 0) value = __shfl_sync(0xffffffff, value, 1);
    out[threadIdx.x] = value;
}
PAIR(sync_against_shuffle<right>, 1, 256, zeros<int>(256))

/* sync-arms — a barrier in each arm of an if that divides a warp: they are not one barrier. */
template <bool right> __global__ void sync_arms(int *out)
{
    if (threadIdx.x % 2 == 0) {
        out[threadIdx.x] = 1;
        if (!right) __syncthreads(); /* synccheck: Divergent thread(s) in warp */
        out[threadIdx.x + 64] = 1;
    } else {
        out[threadIdx.x] = 2;
        if (!right) __syncthreads();
        out[threadIdx.x + 64] = 2;
    }
    if (right) __syncthreads();
}
PAIR(sync_arms<right>, 1, 64, zeros<int>(128))

/* sync-barrier-object — an asynchronous barrier is initialised before it is used. */
template <bool right> __global__ void sync_barrier_object(int *out)
{
    __shared__ unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (!right) barrier = 0;
    if (right && threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at));
    __syncthreads();
    /* synccheck, memcheck: holds no mbarrier */
    asm volatile("{ .reg .b64 token; mbarrier.arrive.shared.b64 token, [%0]; }" ::"r"(at));
    out[threadIdx.x] = 1;
}
PAIR(sync_barrier_object<right>, 1, 64, zeros<int>(64))

/* sync-break — threads leave a loop early, and do not reach the barriers in it. */
template <bool right> __global__ void sync_break(const int *in, int *out)
{
    __shared__ int left;
    int value = in[threadIdx.x] + threadIdx.x;
    for (int round = 0; round < 8; round++) {
        if (!right && value == 0) break;
        value /= 2;
        if (threadIdx.x == 0) left = 8 - round;
        __syncthreads(); /* synccheck, memcheck: Divergent thread(s) in */
        out[threadIdx.x] = value + left;
        __syncthreads();
    }
}
PAIR(sync_break<right>, 1, 64, zeros<int>(64), zeros<int>(64))

/* sync-count — a named barrier takes a number of threads that is whole warps. */
/* synccheck, memcheck: barrier 1 waits for 48 threads in meet_at_one() */
LAUNCH(sync_count, meet_at_one, 1, 64, zeros<int>(64), right ? 64 : 48)

/* sync-count-large — a named barrier waits for more threads than the block has. */
/* synccheck: barrier 1 waits for 64 threads, and the block has 32 in meet_at_one() */
LAUNCH(sync_count_large, meet_at_one, 1, 32, zeros<int>(32), right ? 32 : 64)

/* sync-counts — two warps give different numbers of threads for the same barrier. */
template <bool right> __global__ void sync_counts(int *out)
{
    int threads = right || threadIdx.x < 32 ? 64 : 96;
    /* synccheck, memcheck: 96 threads here and 64 elsewhere */
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    out[threadIdx.x] = 1;
}
PAIR(sync_counts<right>, 1, 64, zeros<int>(96))

/* sync-counts-fewer — two warps give different numbers of threads for the same barrier: one of them
 * only its own. */
template <bool right> __global__ void sync_counts_fewer(int *out)
{
    int threads = right || threadIdx.x < 32 ? 64 : 32;
    /* synccheck, memcheck: 32 threads here and 64 elsewhere */
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    out[threadIdx.x] = 1;
}
PAIR(sync_counts_fewer<right>, 1, 64, zeros<int>(64))

/* sync-exit — threads without work leave before the barrier that the others wait at. */
template <bool right> __global__ void sync_exit(const int *in, int *out, int n)
{
    __shared__ int words[128];
    if (!right && threadIdx.x >= n) return;
    words[threadIdx.x] = threadIdx.x < n ? in[threadIdx.x] : 0;
    __syncthreads(); /* synccheck, memcheck: Divergent thread(s) in block */
    if (threadIdx.x < n) out[threadIdx.x] = words[n - 1 - threadIdx.x];
}
PAIR(sync_exit<right>, 1, 128, zeros<int>(100), zeros<int>(100), 100)

/* sync-half — half of a warp reaches a barrier, and the other half does not. */
template <bool right> __global__ void sync_half(int *out)
{
    if (threadIdx.x < 16) {
        out[threadIdx.x] = 1;
        if (!right) __syncthreads(); /* synccheck, memcheck: Divergent thread(s) in block */
    }
    if (right) __syncthreads();
}
PAIR(sync_half<right>, 1, 64, zeros<int>(64))

/* sync-init-twice — every thread initialises the same mbarrier. */
template <bool right> __global__ void sync_init_twice(int *out)
{
    __shared__ barrier meeting;
    /* racecheck: WAW hazard in barrier.cuh */
    if (!right || threadIdx.x == 0) barrier_init(&meeting, 64);
    barrier_init_done();
    __syncthreads();
    barrier_arrive(&meeting);
    barrier_wait(&meeting, 0);
    out[threadIdx.x] = 1;
}
PAIR(sync_init_twice<right>, 1, 64, zeros<int>(64))

/* sync-inlined-arms — odd and even threads call a function with a barrier, in two arms. */
/* synccheck: Barrier error in exchange_in_arms() */
LAUNCH(sync_inlined_arms, exchange_in_arms, 1, 64, zeros<int>(64), right ? 64 : 1)

/* sync-inlined-turn — odd threads call a function with a barrier before even ones do. */
/* synccheck: Barrier error in exchange_in_turn() */
LAUNCH(sync_inlined_turn, exchange_in_turn, 1, 32, zeros<int>(64), right ? 64 : 1)

/* sync-inlined-turn-warps — one warp calls a function with a barrier before the other does. */
/* synccheck: Barrier error in exchange_in_turn() */
LAUNCH(sync_inlined_turn_warps, exchange_in_turn, 1, 64, zeros<int>(64), right ? 64 : 32)

/* sync-inlined-warps — warps call a function with a barrier, in two arms. */
/* synccheck: Barrier error in exchange_in_arms() */
LAUNCH(sync_inlined_warps, exchange_in_arms, 1, 64, zeros<int>(64), right ? 64 : 32)

/* sync-invalidated — an mbarrier is used after it was invalidated. */
template <bool right> __global__ void sync_invalidated(int *out)
{
    __shared__ barrier meeting;
    unsigned at = (unsigned)__cvta_generic_to_shared(&meeting);
    if (threadIdx.x == 0) barrier_init(&meeting, 64);
    __syncthreads();
    if (!right && threadIdx.x == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at));
    __syncthreads();
    barrier_arrive(&meeting); /* synccheck, memcheck: holds no mbarrier in barrier.cuh */
    out[threadIdx.x] = 1;
}
PAIR(sync_invalidated<right>, 1, 64, zeros<int>(64))

/* sync-ldmatrix — lanes whose rows lie beyond the matrix return before ldmatrix. */
template <bool right> __global__ void sync_ldmatrix(int *out, const __half *in, int rows)
{
    __shared__ __align__(16) __half tile[TILE];
    unsigned a[4];
    bool is_inside = own_row() / SIDE < rows;
    unsigned lanes = __ballot_sync(~0u, right || is_inside);
    if (!right && !is_inside) return;
    uint4 zero = make_uint4(0, 0, 0, 0);
    *(uint4 *)&tile[own_row()] = is_inside ? *(const uint4 *)&in[own_row()] : zero;
    __syncwarp(lanes);
    /* synccheck, memcheck: lanes 0x0fff0fff of the warp execute ldmatrix, which needs all 32 */
    LOAD_MATRICES(a, &tile[own_row()]);
    put(out, a);
}
PAIR(sync_ldmatrix<right>, 1, 32, zeros<int>(128), zeros<__half>(TILE), 12)

/* sync-line-arms — odd and even threads reach two barriers of one line. */
/* synccheck: Divergent thread(s) in warp in store_in_arms() */
LAUNCH(sync_line_arms, store_in_arms, 1, 64, zeros<int>(64), right ? 64 : 1)

/* sync-line-halves — the halves of a warp reach two barriers of one line. */
/* synccheck: Divergent thread(s) in warp in store_in_arms() */
LAUNCH(sync_line_halves, store_in_arms, 1, 64, zeros<int>(64), right ? 64 : 16)

/* sync-line-loop — odd threads are in the second iteration of a loop while even ones are after it,
 * at another barrier of the same line. */
#define LOOP_AND_BARRIER(turns)                                                                    \
    for (int i = 0; i < turns; i++) {                                                              \
        out[threadIdx.x] = i;                                                                      \
        __syncthreads();                                                                           \
    }                                                                                              \
    if (turns == 1) __syncthreads();
template <bool right> __global__ void sync_line_loop(int *out)
{
    /* synccheck: Divergent thread(s) in warp */
    LOOP_AND_BARRIER((right ? 0 : threadIdx.x % 2) + 1);
}
PAIR(sync_line_loop<right>, 1, 32, zeros<int>(32))

/* sync-line-warps — warps reach two barriers of one line. */
/* synccheck: Divergent thread(s) in block in store_in_arms() */
LAUNCH(sync_line_warps, store_in_arms, 1, 64, zeros<int>(64), right ? 64 : 32)

/* sync-loop — a loop has a barrier in it, and warps go through it a different number of times. */
template <bool right> __global__ void sync_loop(const int *in, int *out, int n)
{
    __shared__ int words[128];
    int sum = 0, rounds = right ? (n + 127) / 128 * 128 : n;
    for (int i = threadIdx.x; i < rounds; i += 128) {
        words[threadIdx.x] = i < n ? in[i] : 0;
        __syncthreads(); /* synccheck: Barrier without warps */
        sum += words[threadIdx.x ^ 1];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
PAIR(sync_loop<right>, 1, 128, zeros<int>(320), zeros<int>(128), 320)

/* sync-mask — a lane that calls __syncwarp is in the mask that it names. */
template <bool right> __global__ void sync_mask(int *out)
{
    unsigned mask = __ballot_sync(0xffffffff, threadIdx.x < 16);
    /* synccheck, memcheck: own member mask */
    if (threadIdx.x < (right ? 16 : 17)) __syncwarp(mask);
    out[threadIdx.x] = mask;
}
PAIR(sync_mask<right>, 1, 32, zeros<int>(32))

/* sync-masks — lanes of one shuffle name different masks. */
template <bool right> __global__ void sync_masks(int *out)
{
    unsigned halves = threadIdx.x < 16 ? 0x0000ffff : 0xffff8000;
    unsigned mask = right ? 0xffffffff : halves;
    int sum = threadIdx.x;
    for (int d = 8; d > 0; d /= 2)
        sum += __shfl_xor_sync(mask, sum, d); /* synccheck: Member mask */
    out[threadIdx.x] = sum;
}
PAIR(sync_masks<right>, 1, 32, zeros<int>(32))

/* sync-masks-full — half of a warp names all lanes for a shuffle, the other half only itself. */
template <bool right> __global__ void sync_masks_full(int *out)
{
    unsigned mask = right || threadIdx.x < 16 ? 0xffffffff : 0xffff0000;
    out[threadIdx.x] = __shfl_sync(mask, threadIdx.x, 20); /* synccheck: Member mask */
}
PAIR(sync_masks_full<right>, 1, 32, zeros<int>(32))

/* sync-mma — odd and even lanes multiply with different signs, in two arms of an if. */
template <bool right> __global__ void sync_mma(int *out, const int *in)
{
    unsigned a[4], b[2], d[4] = {0};
    for (int k = 0; k < 4; k++) a[k] = in[4 * threadIdx.x + k];
    for (int k = 0; k < 2; k++) b[k] = a[k];
    if (right || in[threadIdx.x] == threadIdx.x % 2) {
        MULTIPLY_ADD(d, a, b); /* synccheck, memcheck: Divergent thread(s) in warp */
    } else {
        a[0] ^= 0x80008000;
        MULTIPLY_ADD(d, a, b);
        d[1]++;
    }
    put(out, d);
}
PAIR(sync_mma<right>, 1, 32, zeros<int>(128), zeros<int>(128))

/* sync-no-arrivals — an mbarrier is initialised for no arrivals. */
__global__ void sync_no_arrivals(int *out, int arrivals)
{
    __shared__ barrier meeting;
    if (threadIdx.x == 0)
        barrier_init(&meeting, arrivals); /* synccheck, memcheck: for 0 arrivals in barrier.cuh */
    __syncthreads();
    out[threadIdx.x] = 1;
}
PAIR(sync_no_arrivals, 1, 64, zeros<int>(64), right ? 64 : 0)

/* sync-number — a block has the barriers 0 to 15, but not 16. */
__global__ void sync_number(int *out, int barrier)
{
    asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); /* synccheck, memcheck: 16 */
    out[threadIdx.x] = 1;
}
PAIR(sync_number, 1, 64, zeros<int>(64), right ? 15 : 16)

/* sync-overwritten — a loop writes beyond its array, into an mbarrier. */
template <bool right> __global__ void sync_overwritten(int *out)
{
    __shared__ struct {
        int words[64];
        barrier meeting;
    } s;
    if (threadIdx.x == 0) barrier_init(&s.meeting, 64);
    __syncthreads();
    for (int i = threadIdx.x; i < (right ? 64 : 66); i += 64) s.words[i] = -1;
    __syncthreads();
    barrier_arrive(&s.meeting); /* synccheck, memcheck: holds no mbarrier in barrier.cuh */
    out[threadIdx.x] = 1;
}
PAIR(sync_overwritten<right>, 1, 64, zeros<int>(64))

/* sync-reduce — a lane takes part in a reduction whose mask does not name it. */
template <bool right> __global__ void sync_reduce(int *out)
{
    if (threadIdx.x <= 16) {
        unsigned mask = right ? 0x1ffff : 0xffff;
        out[threadIdx.x] = __reduce_add_sync(mask, 1); /* synccheck: Invalid arguments */
    }
}
PAIR(sync_reduce<right>, 1, 32, zeros<int>(32))

/* sync-roles — two warps wait at two barriers in two functions, which are not the same barrier. */
__device__ __noinline__ void produce(int *words)
{
    words[threadIdx.x] = threadIdx.x;
    __syncthreads(); /* synccheck: Divergent thread(s) in block */
}
__device__ __noinline__ void consume(int *out, const int *words)
{
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x - 32];
}
template <bool right> __global__ void sync_roles(int *out)
{
    __shared__ int words[32];
    if (right) {
        if (threadIdx.x < 32) words[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x >= 32) out[threadIdx.x] = words[threadIdx.x - 32];
    } else if (threadIdx.x < 32)
        produce(words);
    else
        consume(out, words);
}
PAIR(sync_roles<right>, 1, 64, zeros<int>(64))

/* sync-shuffle — a shuffle in divergent code names lanes that do not reach it. */
template <bool right> __global__ void sync_shuffle(int *out)
{
    int value = threadIdx.x;
    /* synccheck: Member mask with threads that have exited */
    if (threadIdx.x < 16) value = __shfl_down_sync(right ? 0xffff : 0xffffffff, value, 1, 16);
    out[threadIdx.x] = value;
}
PAIR(sync_shuffle<right>, 1, 32, zeros<int>(32))

/* sync-source — a lane takes the value of a lane that does not take part in the shuffle. */
template <bool right> __global__ void sync_source(int *out)
{
    int value = threadIdx.x, after = 0;
    if (right) after = __shfl_down_sync(0xffffffff, value, 1);
    if (threadIdx.x < 12) {
        if (!right) after = __shfl_down_sync(0xfff, value, 1); /* synccheck: Undefined value */
        value = after;
    }
    out[threadIdx.x] = value; /* synccheck: it goes into memory */
}
PAIR(sync_source<right>, 1, 32, zeros<int>(32))

/* sync-source-address — an index comes from a lane that does not take part in the shuffle. */
template <bool right> __global__ void sync_source_address(const int *in, int *out)
{
    int i = threadIdx.x;
    if (i < 20) {
        int next = __shfl_down_sync(0xfffff, i, 4); /* synccheck: Undefined value */
        out[i] = right && i + 4 >= 20 ? 0 : in[next & 31]; /* synccheck: or an address, at */
    }
}
PAIR(sync_source_address<right>, 1, 32, numbers<int>(32), zeros<int>(32))

/* sync-source-block — a sum over warps of 32 lanes, in a block of 40 threads. */
__global__ void sync_source_block(const int *in, int *out, int n)
{
    int sum = threadIdx.x < n ? in[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, d); /* synccheck: Undefined value */
    }
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum); /* synccheck: it goes into memory */
}
PAIR(sync_source_block, 1, right ? 64 : 40, numbers<int>(40), zeros<int>(1), 40)

/* sync-source-branch — each lane of twenty compares its value with its neighbour's. The last one
 * has no neighbour, so what it compares must not count. */
template <bool right> __global__ void sync_source_branch(const int *in, int *out)
{
    int lane = threadIdx.x;
    if (lane >= 20) return;
    /* synccheck: Undefined value */
    int own = in[lane], next = __shfl_down_sync(0xfffff, own, 1);
    if ((!right || lane < 19) && next != own) out[lane] = own; /* synccheck: decides a branch */
}
PAIR(sync_source_branch<right>, 1, 32, numbers<int>(32), zeros<int>(32))

/* sync-source-leader — the lanes that are left share a counter: the lowest of them adds for all. It
 * need not be lane 0. */
template <bool right> __global__ void sync_source_leader(const int *in, int *count, int *out)
{
    if (in[threadIdx.x] % 3 == 0) return;
    unsigned mask = __activemask();
    int first = __ffs(mask) - 1, place = 0;
    if (threadIdx.x == first) place = atomicAdd(count, __popc(mask));
    place = __shfl_sync(mask, place, right ? first : 0); /* synccheck: Undefined value */
    place += __popc(mask & ((1u << threadIdx.x) - 1));
    out[place % 32] = in[threadIdx.x]; /* synccheck: or an address, at */
}
PAIR(sync_source_leader<right>, 1, 32, numbers<int>(32), zeros<int>(1), zeros<int>(32))

/* sync-source-scan — lanes 8 to 31 scan their values. Lane 8 is the first of them. */
template <bool right> __global__ void sync_source_scan(int *out)
{
    enum { FIRST = 8 };
    int lane = threadIdx.x, sum = lane;
    if (lane < FIRST) return;
    for (int d = 1; d < 32 - FIRST; d *= 2) {
        int before = __shfl_up_sync(0xffffff00, sum, d); /* synccheck: Undefined value */
        if (lane >= d + (right ? FIRST : 0)) sum += before;
    }
    out[lane] = sum; /* synccheck: it goes into memory */
}
PAIR(sync_source_scan<right>, 1, 32, zeros<int>(32))

/* sync-source-select — the last lane of twelve has no neighbour, and must not add its value. */
template <bool right> __global__ void sync_source_select(int *out)
{
    int lane = threadIdx.x, sum = lane;
    if (lane < 12) {
        int other = __shfl_down_sync(0xfff, sum, 1); /* synccheck: Undefined value */
        if (!right || lane + 1 < 12) sum += other;
        out[lane] = sum; /* synccheck: it goes into memory */
    }
}
PAIR(sync_source_select<right>, 1, 32, zeros<int>(32))

/* sync-source-sum — a sum of 8 lanes. The upper lanes get undefined values, but only the sum of
 * lane 0 is right, and only lane 0 may store it. */
template <bool right> __global__ void sync_source_sum(int *out)
{
    int sum = threadIdx.x;
    if (threadIdx.x >= 8) return;
    for (int d = 4; d > 0; d /= 2)
        sum += __shfl_down_sync(0xff, sum, d); /* synccheck: Undefined value */
    if (!right || threadIdx.x == 0) out[threadIdx.x] = sum; /* synccheck: it goes into memory */
}
PAIR(sync_source_sum<right>, 1, 32, zeros<int>(32))

/* sync-syncwarp — half of a warp reaches __syncwarp(), which waits for all lanes. */
template <bool right> __global__ void sync_syncwarp(int *out)
{
    __shared__ int words[32];
    if (threadIdx.x < 16) {
        words[threadIdx.x] = threadIdx.x;
        __syncwarp(right ? 0x0000ffff : 0xffffffff); /* synccheck: which have exited */
        out[threadIdx.x] = words[threadIdx.x ^ 1];
    }
}
PAIR(sync_syncwarp<right>, 1, 32, zeros<int>(32))

/* sync-tail — a barrier stands inside of `if (i < n)`, and the last warps of the grid do not reach
 * it. */
template <bool right> __global__ void sync_tail(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        tile[threadIdx.x] = in[i];
        if (!right) __syncthreads(); /* synccheck: Barrier without warps */
    }
    if (right) __syncthreads();
    if (i < n) out[i] = tile[threadIdx.x ^ 1];
}
PAIR(sync_tail<right>, 2, 128, zeros<int>(192), zeros<int>(192), 192)

/* sync-unrolled — nvcc unrolls a loop with one barrier. Warps may reach different copies of it, the
 * lanes of a warp may not. */
template <bool right> __global__ void sync_unrolled(int *out)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (threadIdx.x / (right ? 32 : 1) % 2 == i % 2) {
            out[threadIdx.x] = i;
            __syncthreads(); /* synccheck: Divergent thread(s) in warp */
        }
}
PAIR(sync_unrolled<right>, 1, 64, zeros<int>(64))

/* sync-vote — lanes that have left a loop are named in the mask of its votes. */
template <bool right> __global__ void sync_vote(const int *in, int *out, int n)
{
    int votes = 0;
    for (int i = threadIdx.x; right ? i - threadIdx.x < n : i < n; i += 32) {
        int value = i < n ? in[i] : 1;
        votes += __popc(__ballot_sync(0xffffffff, value == 0)); /* synccheck: exited */
    }
    out[threadIdx.x] = votes;
}
PAIR(sync_vote<right>, 1, 32, zeros<int>(80), zeros<int>(32), 80)
