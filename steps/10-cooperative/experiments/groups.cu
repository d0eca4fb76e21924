/*
 * groups: sums over groups of any size.
 *
 * What it shows: a function with a group as its argument works for a block, a warp and a part of a
 * warp (`generic`, the lecture's reduce(), which uses shared memory and groups whose size is known
 * at run time). If the compiler knows the size, a tile needs only shuffles (`static`, the lecture's
 * tile_reduce(), and `library`, cg::reduce, which uses an instruction for integers since sm_80).
 * Halving works only for powers of two: for a coalesced group of any size, cg::reduce finds the
 * sum, but the generic function loses elements (`lost`).
 * From: lecture (CS 380, lecture 25), "Generic parallel algorithms", "Static tile reduce".
 * How to run it: make experiment-10-groups
 */
#include "common/experiment/experiment.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

#define THREADS 256
#define WARP    32

// Returns the sum over the group in its first thread; x has room for a word per thread. This is the
// lecture's function: in a group of 5, it loses the fifth element.
static __device__ int reduce(const cg::thread_group &g, int *x, int value)
{
    unsigned lane = g.thread_rank();
    for (unsigned i = g.size() / 2; i > 0; i /= 2) {
        x[lane] = value;
        g.sync(); // all threads must have written before one reads
        if (lane < i) value += x[lane + i];
        g.sync(); // all threads must have read before one writes
    }
    return value;
}

template <unsigned SIZE>
static __device__ int tile_reduce(const cg::thread_block_tile<SIZE> &g, int value)
{
    for (unsigned i = g.size() / 2; i > 0; i /= 2) value += g.shfl_down(value, i);
    return value;
}

// Every group of SIZE threads stores its sum.
template <unsigned SIZE> static __global__ void generic(int *sums, const int *in)
{
    __shared__ int x[THREADS];
    cg::thread_block block = cg::this_thread_block();
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    int sum;
    if (SIZE == THREADS)
        sum = reduce(block, x, in[i]);
    else
        sum = reduce(cg::tiled_partition(block, SIZE), x + threadIdx.x / SIZE * SIZE, in[i]);
    if (i % SIZE == 0) sums[i / SIZE] = sum;
}

template <unsigned SIZE, bool LIBRARY> static __global__ void tiles(int *sums, const int *in)
{
    cg::thread_block_tile<SIZE> tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    int sum = LIBRARY ? cg::reduce(tile, in[i], cg::plus<int>()) : tile_reduce(tile, in[i]);
    if (tile.thread_rank() == 0) sums[i / SIZE] = sum;
}

// Sums, in each warp, the elements that 3 does not divide. Their number is not a power of two.
template <bool LIBRARY> static __global__ void coalesced(int *sums, const int *in)
{
    __shared__ int x[THREADS];
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (in[i] % 3) {
        cg::coalesced_group here = cg::coalesced_threads();
        int sum = LIBRARY ? cg::reduce(here, in[i], cg::plus<int>())
                          : reduce(here, x + threadIdx.x / WARP * WARP, in[i]);
        if (here.thread_rank() == 0) sums[i / WARP] = sum;
    }
}

static const struct {
    const char *name;
    unsigned size;
    void (*kernel)(int *, const int *);
    bool not_threes, loses;
} cases[] = {
    {"generic", 256, generic<256>, false, false},    {"generic", 32, generic<32>, false, false},
    {"generic", 16, generic<16>, false, false},      {"generic", 4, generic<4>, false, false},
    {"static", 32, tiles<32, false>, false, false},  {"static", 16, tiles<16, false>, false, false},
    {"static", 4, tiles<4, false>, false, false},    {"library", 32, tiles<32, true>, false, false},
    {"library", 16, tiles<16, true>, false, false},  {"library", 4, tiles<4, true>, false, false},
    {"coalesced", 32, coalesced<true>, true, false}, {"lost", 32, coalesced<false>, true, true},
};

struct work {
    void (*kernel)(int *, const int *);
    int *sums, *in;
    size_t n;
};

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct work *w = (struct work *)context;
    w->kernel<<<w->n / THREADS, THREADS, 0, stream>>>(w->sums, w->in);
    return cudaGetLastError();
}

static int element(size_t i) { return i * 7 % 64; }

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "a size that the compiler knows saves a third; halving loses values of "
                "odd groups (`lost`).";
    struct work w = {.kernel = NULL, .sums = NULL, .in = NULL, .n = 0};
    w.n = e->emulated ? 1 << 12 : 1 << 26;
    size_t bytes = w.n * sizeof(int);
    int *host = (int *)malloc(bytes);
    CUDA_CHECK(fault, cudaMalloc(&w.in, bytes));
    CUDA_CHECK(fault, cudaMalloc(&w.sums, bytes));
    for (size_t i = 0; i < w.n; i++) host[i] = element(i);
    CUDA_CHECK(fault, cudaMemcpy(w.in, host, bytes, cudaMemcpyHostToDevice));

    for (auto &it : cases) {
        w.kernel = it.kernel;
        experiment_at(e, it.name, "%u", it.size);
        if (experiment_measure(e, launch, &w, NULL, fault)) return fault->code;

        size_t groups = w.n / it.size, wrong = 0;
        CUDA_CHECK(fault, cudaMemcpy(host, w.sums, groups * sizeof(int), cudaMemcpyDeviceToHost));
        for (size_t g = 0; g < groups; g++) {
            int sum = 0;
            for (size_t i = g * it.size; i < (g + 1) * it.size; i++)
                if (!it.not_threes || element(i) % 3) sum += element(i);
            wrong += host[g] != sum;
        }
        if (it.loses) experiment_value(e, "wrong", (double)wrong / groups, "");
        if (!it.loses && wrong)
            return fail(fault, EXIT_WRONG, "%s, %u: %zu sums are wrong.", it.name, it.size, wrong);
    }
    free(host);
    CUDA_CHECK(fault, cudaFree(w.in));
    CUDA_CHECK(fault, cudaFree(w.sums));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("10-groups", "Sums over groups of any size", run, argc, argv);
}
