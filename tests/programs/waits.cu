/*
 * waits.cu — blocks that wait for each other, in every way that a program can, for test_waits.c.
 *
 * usage: waits KIND WAY [blocks]
 *
 *   meet WAY      right: blocks meet at a barrier that is a counter in global memory. All threads of a
 *                 block loop until it has the value that they wait for; WAY says how they look at it,
 *                 and what else the loop does
 *   never WAY     wrong: the same loop, and no thread writes what it waits for
 *   slow WAY      right: a block works for longer than the tests' patience
 *   lost WAY      wrong: threads wait for each other
 *
 * Prints the error that the kernel has ended with. Exit code 1: a wrong result; 98: no such case.
 */
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cg = cooperative_groups;

enum { THREADS = 64, MEETINGS = 3, CLUSTER = 2, FULL = 0xffffffff };

/* ---- loops ----------------------------------------------------------------------------------- */

enum way {
    BARRIER,  /* all threads pass __syncthreads() */
    NAMED,    /* bar.sync 1 and 2 by half of the threads each, bar.arrive between */
    CLUSTERS, /* cluster.sync() */
    WARPS,    /* __syncwarp() */
    SHUFFLES, /* a shuffle tells the others */
    SLEEPS,
    OBJECT,  /* an mbarrier of all threads, waited for with try_wait */
    VOTES,   /* __syncthreads_or() tells the others */
    COUNTED, /* __syncthreads(), and a register counts the rounds */
    NOTHING
};
enum look { ADD_ZERO, FAILED_CAS, OR_ZERO, VOLATILE, PLAIN };

/* What is at a place, which another block may change at any time. */
template <look HOW> __device__ unsigned look_at(unsigned *place)
{
    if (HOW == ADD_ZERO) return atomicAdd(place, 0);
    if (HOW == FAILED_CAS) return atomicCAS(place, ~0u, 0u);
    if (HOW == OR_ZERO) return atomicOr(place, 0);
    if (HOW == VOLATILE) return *(volatile unsigned *)place;
    unsigned value;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
    return value;
}

/* ---- an mbarrier of a given number of threads */

__device__ unsigned shared_address(void *place)
{
    return (unsigned)__cvta_generic_to_shared(place);
}

__device__ void object_begin(unsigned long long *object, unsigned threads)
{
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(object)),
                     "r"(threads)
                     : "memory");
#endif
    __syncthreads();
}

__device__ void object_end(unsigned long long *object)
{
    __syncthreads();
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0)
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(shared_address(object)) : "memory");
#endif
}

__device__ void object_meet(unsigned long long *object, unsigned &parity)
{
#if __CUDA_ARCH__ >= 900
    unsigned over = 0;
    asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(
                     shared_address(object))
                 : "memory");
    while (!over)
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                     : "=r"(over)
                     : "r"(shared_address(object)), "r"(parity)
                     : "memory");
    parity ^= 1;
#endif
}

/* ---- the loop */

struct waiting {
    unsigned seen[THREADS / 32]; /* for all, or for each warp, what one thread has seen */
    unsigned long long object;
};

/* All threads that share an element of `seen` pass this together. */
template <way WAY> __device__ void pass(struct waiting *waiting, unsigned &parity)
{
    if (WAY == BARRIER || WAY == COUNTED) __syncthreads();
    if (WAY == NAMED && threadIdx.x < THREADS / 2)
        asm volatile("bar.arrive 3, 64;\nbar.sync 1, 32;\nbar.sync 4, 64;" ::: "memory");
    if (WAY == NAMED && threadIdx.x >= THREADS / 2)
        asm volatile("bar.sync 3, 64;\nbar.sync 2, 32;\nbar.arrive 4, 64;" ::: "memory");
#if __CUDA_ARCH__ >= 900
    if (WAY == CLUSTERS) cg::this_cluster().sync();
#endif
    if (WAY == WARPS) __syncwarp();
    if (WAY == OBJECT) object_meet(&waiting->object, parity);
}

/* Waits until the place holds `wanted`. Returns the number of rounds. */
template <way WAY, look HOW> __device__ unsigned wait_for(unsigned *place, unsigned wanted)
{
    __shared__ struct waiting waiting;
    unsigned parity = 0, rounds = 0, warp = WAY == WARPS ? threadIdx.x / 32 : 0;
    bool looks = WAY == WARPS ? threadIdx.x % 32 == 0 : threadIdx.x == 0, over = false;
    object_begin(&waiting.object, THREADS);
    while (!over) {
        if (WAY == VOTES) {
            over = __syncthreads_or(looks && look_at<HOW>(place) == wanted);
        } else if (WAY == SHUFFLES) {
            unsigned seen = threadIdx.x % 32 == 0 ? look_at<HOW>(place) : 0;
            over = __shfl_sync(FULL, seen, 0) == wanted;
        } else if (WAY == SLEEPS || WAY == NOTHING) {
            over = look_at<HOW>(place) == wanted;
            if (WAY == SLEEPS) __nanosleep(100);
        } else {
            if (looks) waiting.seen[warp] = look_at<HOW>(place);
            pass<WAY>(&waiting, parity);
            over = waiting.seen[warp] == wanted;
            pass<WAY>(&waiting, parity);
        }
        if (WAY == COUNTED) rounds++;
    }
    object_end(&waiting.object);
    return rounds;
}

/* One barrier of the grid. */
template <way WAY, look HOW> __device__ void meet_at(unsigned *count, unsigned meeting)
{
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(count, 1);
    wait_for<WAY, HOW>(count, meeting * gridDim.x);
    __threadfence();
}

/* A block's number in `out` is right if it has waited for the others at each meeting. */
template <way WAY, look HOW> __global__ void meet(unsigned *memory, unsigned *out)
{
    unsigned *sums = memory + 2;
    for (unsigned meeting = 1; meeting <= MEETINGS; meeting++) {
        if (threadIdx.x == 0) atomicAdd(&sums[meeting], blockIdx.x + 1);
        meet_at<WAY, HOW>(&memory[0], meeting);
        if (threadIdx.x == 0) out[blockIdx.x] += *(volatile unsigned *)&sums[meeting];
        meet_at<WAY, HOW>(&memory[1], meeting);
    }
}

template <way WAY, look HOW> __global__ void never(unsigned *memory, unsigned *out)
{
    out[blockIdx.x] = wait_for<WAY, HOW>(memory, 1);
}

/* ---- slow, and right ------------------------------------------------------------------------- */

enum { SLOW = 1800 }; /* milliseconds */

__device__ unsigned long long nanoseconds(void)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* Passes barriers and changes only shared memory. */
__global__ void slow_shared(unsigned *, unsigned *out)
{
    __shared__ unsigned sums[THREADS], over;
    unsigned left = threadIdx.x, right = (threadIdx.x + 1) % THREADS;
    unsigned long long begun = nanoseconds();
    sums[left] = left + 1;
    if (threadIdx.x == 0) over = 0;
    __syncthreads();
    while (!over) {
        unsigned sum = sums[left] * 5 + sums[right] * 2 + 1; // never what it was
        __syncthreads();
        sums[left] = sum;
        if (threadIdx.x == 0) over = nanoseconds() - begun > SLOW * 1000000ull;
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

/* Stores zeros where there are zeros, from place to place. */
__global__ void slow_fill(unsigned *memory, unsigned *out)
{
    unsigned long long begun = nanoseconds();
    for (unsigned k = 0; nanoseconds() - begun < SLOW * 1000000ull; k++) memory[k % 8] = 0;
    if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

/* The first block changes memory again and again, the others wait for its end. */
template <way WAY, look HOW> __global__ void slow_leader(unsigned *memory, unsigned *out)
{
    unsigned long long begun = nanoseconds();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (unsigned k = 0; nanoseconds() - begun < SLOW * 1000000ull; k++) memory[1] = k;
        __threadfence();
        atomicExch(&memory[0], 1);
    } else if (blockIdx.x > 0) {
        wait_for<WAY, HOW>(memory, 1);
    }
    if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

/* ---- threads that wait for each other -------------------------------------------------------- */

/* One block does not come to the grid's barrier. */
__global__ void lost_grid(unsigned *, unsigned *out)
{
    if (blockIdx.x + 1 < gridDim.x) cg::this_grid().sync();
    out[blockIdx.x] = 1;
}

/* One thread waits before the barrier at which the others wait. */
__global__ void lost_flag(unsigned *memory, unsigned *out)
{
    if (threadIdx.x == 0)
        while (*(volatile unsigned *)memory == 0) continue;
    __syncthreads();
    out[blockIdx.x] = 1;
}

/* One warp waits at another barrier than that of its cluster. */
__global__ void lost_cluster(unsigned *, unsigned *out)
{
#if __CUDA_ARCH__ >= 900
    if (cg::this_cluster().block_rank() == 0 || threadIdx.x < 32)
        cg::this_cluster().sync();
    else
        asm volatile("bar.sync 1, 64;" ::: "memory");
#endif
    out[blockIdx.x] = 1;
}

/* An mbarrier lacks one arrival. */
__global__ void lost_object(unsigned *, unsigned *out)
{
    __shared__ unsigned long long object;
    unsigned parity = 0;
    object_begin(&object, THREADS + 1);
    object_meet(&object, parity);
    out[blockIdx.x] = 1;
}

/* Each warp waits at a barrier of its own for the other. */
__global__ void lost_named(unsigned *, unsigned *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    out[blockIdx.x] = 1;
}

/* Half of a warp waits for the other half, which waits for the block. */
__global__ void lost_warp(unsigned *, unsigned *out)
{
    if (threadIdx.x % 32 < 16)
        __syncwarp(FULL);
    else
        asm volatile("barrier.sync 1, 64;" ::: "memory");
    out[blockIdx.x] = 1;
}

/* No thread unlocks what the first one has locked. */
__global__ void lost_lock(unsigned *memory, unsigned *out)
{
    while (atomicCAS(memory, 0, 1)) continue;
    out[blockIdx.x] = 1;
}

/* ---- the program ------------------------------------------------------------------------------- */

static unsigned blocks = 4, *memory, *out;

typedef void (*kernel)(unsigned *, unsigned *);

enum together { ANY, CLUSTERED, COOPERATIVE };

static void launch(kernel run, together how)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(THREADS);
    config.attrs = &attribute;
    config.numAttrs = how != ANY;
    if (how == CLUSTERED) {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = CLUSTER;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    } else {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
    }
    cudaLaunchKernelEx(&config, run, memory, out);
}

/* Prints how it has ended. Returns the program's exit code. */
static int finish(unsigned wanted)
{
    cudaError_t error = cudaDeviceSynchronize();
    unsigned got = 0;
    printf("%s\n", cudaGetErrorName(error));
    for (unsigned b = 0; b < blocks && error == cudaSuccess; b++) {
        cudaMemcpy(&got, &out[b], sizeof got, cudaMemcpyDeviceToHost);
        if (got == wanted) continue;
        printf("block %u has %u, not %u\n", b, got, wanted);
        return 1;
    }
    return 0;
}

static const struct {
    const char *name;
    kernel meet, never;
    together how;
} loops[] = {
#define LOOP(name, way, look)                                                                      \
    {                                                                                              \
        name, meet<way, look>, never<way, look>, ANY                                               \
    }
    LOOP("add-barrier", BARRIER, ADD_ZERO),
    LOOP("cas-barrier", BARRIER, FAILED_CAS),
    LOOP("or-barrier", BARRIER, OR_ZERO),
    LOOP("volatile-barrier", BARRIER, VOLATILE),
    LOOP("plain-barrier", BARRIER, PLAIN),
    LOOP("add-named", NAMED, ADD_ZERO),
    LOOP("plain-named", NAMED, PLAIN),
    LOOP("cas-warp", WARPS, FAILED_CAS),
    LOOP("plain-warp", WARPS, PLAIN),
    LOOP("add-shuffle", SHUFFLES, ADD_ZERO),
    LOOP("plain-shuffle", SHUFFLES, PLAIN),
    LOOP("add-sleep", SLEEPS, ADD_ZERO),
    LOOP("volatile-sleep", SLEEPS, VOLATILE),
    LOOP("plain-sleep", SLEEPS, PLAIN),
    LOOP("add-object", OBJECT, ADD_ZERO),
    LOOP("plain-object", OBJECT, PLAIN),
    LOOP("add-vote", VOTES, ADD_ZERO),
    LOOP("plain-vote", VOTES, PLAIN),
    LOOP("volatile-counted", COUNTED, VOLATILE),
    LOOP("plain-counted", COUNTED, PLAIN),
    LOOP("add-nothing", NOTHING, ADD_ZERO),
    LOOP("plain-nothing", NOTHING, PLAIN),
#define TOGETHER(name, how, way, look)                                                             \
    {                                                                                              \
        name, meet<way, look>, never<way, look>, how                                               \
    }
    TOGETHER("add-cluster", CLUSTERED, CLUSTERS, ADD_ZERO),
    TOGETHER("plain-cluster", CLUSTERED, CLUSTERS, PLAIN),
};

static const struct {
    const char *kind, *name;
    kernel run;
    together how;
} others[] = {
    {"slow", "shared", slow_shared, ANY},
    {"slow", "fill", slow_fill, ANY},
    {"slow", "volatile", slow_leader<NOTHING, VOLATILE>, ANY},
    {"slow", "plain", slow_leader<BARRIER, PLAIN>, ANY},
    {"lost", "grid", lost_grid, COOPERATIVE},
    {"lost", "flag", lost_flag, ANY},
    {"lost", "cluster", lost_cluster, CLUSTERED},
    {"lost", "object", lost_object, ANY},
    {"lost", "named", lost_named, ANY},
    {"lost", "warp", lost_warp, ANY},
    {"lost", "lock", lost_lock, ANY},
};

static int run(const char *kind, const char *name)
{
    bool meets = strcmp(kind, "meet") == 0;
    for (const auto &loop : loops)
        if (strcmp(loop.name, name) == 0 && (meets || strcmp(kind, "never") == 0)) {
            launch(meets ? loop.meet : loop.never, loop.how);
            return finish(meets ? MEETINGS * (blocks * (blocks + 1) / 2) : 1);
        }
    for (const auto &other : others)
        if (strcmp(other.kind, kind) == 0 && strcmp(other.name, name) == 0) {
            launch(other.run, other.how);
            return finish(1);
        }
    fprintf(stderr, "waits: there is no case %s %s\n", kind, name);
    return 98;
}

int main(int argc, char **argv)
{
    enum { WORDS = 16 };
    if (argc > 3) blocks = (unsigned)atoi(argv[3]);
    cudaMalloc(&memory, WORDS * sizeof *memory);
    cudaMemset(memory, 0, WORDS * sizeof *memory);
    cudaMalloc(&out, blocks * sizeof *out);
    cudaMemset(out, 0, blocks * sizeof *out);
    return run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
}
