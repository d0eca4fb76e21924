/*
 * atomics: one counter for many threads, and atomics compared with loads.
 *
 * What it shows: to pack the odd ones of n numbers, each of them needs a place, which one counter
 * can assign. Either every thread adds to the counter (`plain`), or one lane adds for all active
 * lanes of its warp (`aggregated`, the lecture's atomicAggInc), or one thread adds for its block,
 * which assigns its places by a counter in shared memory (`shared`). The order of the places is
 * random; a scan would keep the order. The compiler aggregates atomics itself if it sees that all
 * lanes have the same address, so `hidden` is `plain` with an address that the compiler cannot see
 * through. The second part asks whether an atomic is nearly as fast as a load: on one word per
 * thread, and on one word for all threads of a block.
 * From: lecture (CS 380, lecture 25), "Atomic aggregation"; Kepler guide, 1.4.4.4.
 * How to run it: make experiment-10-atomics
 */
#include "common/experiment/experiment.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define THREADS 256

enum way { PLAIN, HIDDEN, AGGREGATED, SHARED, WAYS };
static const char *const way_names[WAYS] = {"plain", "hidden", "aggregated", "shared"};

// Adds 1 at p. `zero` is 0, but the compiler does not know that, nor that all lanes have one
// address.
static __device__ unsigned hidden_add(unsigned *p, unsigned zero)
{
    return atomicAdd(p + (threadIdx.x & zero), 1);
}

// Adds 1 for each active lane, by one atomic of the first active lane.
static __device__ unsigned aggregated_add(unsigned *p)
{
    cg::coalesced_group here = cg::coalesced_threads();
    unsigned before = 0;
    if (here.thread_rank() == 0) before = atomicAdd(p, here.num_threads());
    return here.shfl(before, 0) + here.thread_rank();
}

// Adds 1 for each thread of the block with `asks`; all threads of the block must call it.
static __device__ unsigned shared_add(unsigned *p, bool asks)
{
    __shared__ unsigned count, first;
    cg::thread_block block = cg::this_thread_block();

    if (block.thread_rank() == 0) count = 0;
    block.sync(); // the count must be 0 before threads add to it
    unsigned place = asks ? atomicAdd(&count, 1) : 0;
    block.sync(); // all threads must have added before the count is read
    if (block.thread_rank() == 0) first = atomicAdd(p, count);
    block.sync(); // the first place must be written before threads read it
    return first + place;
}

// Packs the odd ones of n numbers; n is a multiple of THREADS, and *count must be 0 before.
template <way WAY>
static __global__ void pack(unsigned *odd, unsigned *count, const unsigned *in, unsigned zero)
{
    unsigned x = in[blockIdx.x * THREADS + threadIdx.x], place = 0;
    bool is_odd = x % 2;

    if (WAY == SHARED)
        place = shared_add(count, is_odd);
    else if (is_odd)
        place = WAY == PLAIN    ? atomicAdd(count, 1)
                : WAY == HIDDEN ? hidden_add(count, zero)
                                : aggregated_add(count);
    if (is_odd) odd[place] = x;
}

// Each thread has its own word (step 1), or all threads of a block use one word (step 0).
static __global__ void load_words(unsigned *out, unsigned *words, unsigned step)
{
    unsigned i = blockIdx.x * THREADS, x;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(&words[i + step * threadIdx.x]));
    if (x == 12345) out[i] = x; // never true
}

static __global__ void add_to_words(unsigned *, unsigned *words, unsigned step)
{
    atomicAdd(&words[blockIdx.x * THREADS + step * threadIdx.x], 2);
}

struct data {
    unsigned *out, *in, *count;
    size_t n;
    int which;
};

static cudaError_t launch_pack(void *context, cudaStream_t stream)
{
    static void (*const kernels[WAYS])(unsigned *, unsigned *, const unsigned *, unsigned) = {
        pack<PLAIN>, pack<HIDDEN>, pack<AGGREGATED>, pack<SHARED>};
    struct data *d = (struct data *)context;
    cudaError_t error = cudaMemsetAsync(d->count, 0, sizeof *d->count, stream);
    if (error != cudaSuccess) return error;
    kernels[d->which]<<<d->n / THREADS, THREADS, 0, stream>>>(d->out, d->count, d->in, 0);
    return cudaGetLastError();
}

static cudaError_t launch_words(void *context, cudaStream_t stream)
{
    struct data *d = (struct data *)context;
    auto kernel = d->which / 2 ? add_to_words : load_words;
    kernel<<<d->n / THREADS, THREADS, 0, stream>>>(d->out, d->in, d->which % 2);
    return cudaGetLastError();
}

// Half of 0 … n - 1 are odd, and each of them must occur once.
static int check(struct data *d, const char *name, unsigned *host, struct fault *fault)
{
    unsigned count;
    CUDA_CHECK(fault, cudaMemcpy(&count, d->count, sizeof count, cudaMemcpyDeviceToHost));
    if (count != d->n / 2) return fail(fault, EXIT_WRONG, "%s: %u are odd.", name, count);
    CUDA_CHECK(fault, cudaMemcpy(host, d->out, count * sizeof *host, cudaMemcpyDeviceToHost));
    bool *seen = (bool *)calloc(d->n, sizeof *seen);
    int wrong = 0;
    for (unsigned i = 0; i < count; i++) {
        wrong += host[i] >= d->n || host[i] % 2 == 0 || seen[host[i]];
        if (host[i] < d->n) seen[host[i]] = true;
    }
    free(seen);
    return wrong ? fail(fault, EXIT_WRONG, "%s: %d of the odd ones are wrong.", name, wrong) : 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "one addition per warp or per block is far faster than one per thread "
                "at the same word.";
    struct data d = {.out = NULL, .in = NULL, .count = NULL, .n = 0, .which = 0};
    d.n = e->emulated ? 1 << 12 : 1 << 24;
    size_t bytes = d.n * sizeof(unsigned);
    unsigned *host = (unsigned *)malloc(bytes);
    CUDA_CHECK(fault, cudaMalloc(&d.in, bytes));
    CUDA_CHECK(fault, cudaMalloc(&d.out, bytes));
    CUDA_CHECK(fault, cudaMalloc(&d.count, sizeof *d.count));
    for (unsigned i = 0; i < d.n; i++) host[i] = i * 5 % d.n; // 5 and n share no factor
    CUDA_CHECK(fault, cudaMemcpy(d.in, host, bytes, cudaMemcpyHostToDevice));

    for (d.which = 0; d.which < WAYS; d.which++) {
        experiment_at(e, way_names[d.which], "pack");
        if (experiment_measure(e, launch_pack, &d, NULL, fault)) return fault->code;
        if (check(&d, way_names[d.which], host, fault)) return fault->code;
    }
    for (d.which = 0; d.which < 4; d.which++) {
        experiment_at(e, d.which / 2 ? "atomic" : "load",
                      d.which % 2 ? "a word a thread" : "a word a block");
        if (experiment_measure(e, launch_words, &d, NULL, fault)) return fault->code;
    }
    free(host);
    CUDA_CHECK(fault, cudaFree(d.in));
    CUDA_CHECK(fault, cudaFree(d.out));
    CUDA_CHECK(fault, cudaFree(d.count));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("10-atomics", "One counter for many threads, and atomics against loads",
                           run, argc, argv);
}
