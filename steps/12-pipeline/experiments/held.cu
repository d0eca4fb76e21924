/*
 * held: where the time of step 12's scan_onchip goes.
 *
 * What it shows: for each part of the kernel its share of the cycles of a block, as a mean of all
 * blocks: until all elements are loaded and scanned, until the prefix is found, and until all is
 * stored. The first part only loads and the last one only stores, while a copy does both at once.
 * Reading the clock takes time, so these are not the times of an ordinary scan.
 * How to run it: make experiment-12-held
 */
#include "common/experiment/experiment.h"

#include <stdlib.h>

/* The moments of a warp: it has its tile; its segment is scanned; it has the prefix; it has stored
 * all its elements. */
enum { BEGUN, SCANNED, FOUND, STORED, MOMENTS };

#define BLOCK_WARPS 32
struct moments {
    long long at[BLOCK_WARPS][MOMENTS];
};
static __device__ struct moments *g_moments; // one for each tile
static __device__ bool g_emulated;

#define HELD_MOMENT(tile, what) write_down<what>(tile)
template <int WHAT> static __device__ void write_down(unsigned tile)
{
    long long now = clock64();
    // In the emulator each warp has a clock of its own, which counts its instructions.
    if (g_emulated) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (threadIdx.x % 32 == 0) g_moments[tile].at[threadIdx.x / 32][WHAT] = now;
}

#include "steps/12-pipeline/wave.cuh"

static_assert(ONCHIP_SEGMENTS == BLOCK_WARPS, "a warp for each segment");

#define SIZES    2
#define APART    16 // distance of the ones in the input: every sum is exact
#define EMULATED (((size_t)1 << 22) + 5) // the fewest that scan_onchip takes
static const size_t sizes[SIZES] = {(size_t)1 << 22, (size_t)1 << 23};

static __global__ void ones(float *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) in[i] = i % APART == 0;
}

/* A moment of a block: that of its last warp, or of its first one. */
static long long last(const struct moments *m, int what)
{
    long long found = m->at[0][what];
    for (int w = 1; w < BLOCK_WARPS; w++)
        if (m->at[w][what] > found) found = m->at[w][what];
    return found;
}
static long long first(const struct moments *m, int what)
{
    long long found = m->at[0][what];
    for (int w = 1; w < BLOCK_WARPS; w++)
        if (m->at[w][what] < found) found = m->at[w][what];
    return found;
}

static int show(struct experiment *e, const struct moments *m, unsigned tiles, size_t n,
                struct fault *fault)
{
    double load = 0, look = 0, store = 0;
    for (unsigned t = 0; t < tiles; t++) {
        long long begun = first(&m[t], BEGUN), scanned = last(&m[t], SCANNED);
        long long found = last(&m[t], FOUND), stored = last(&m[t], STORED);
        if (begun > scanned || scanned > found || found > stored)
            return fail(fault, EXIT_WRONG, "the moments of tile %u are out of order.", t);
        load += (double)(scanned - begun), look += (double)(found - scanned);
        store += (double)(stored - found);
    }
    if (e->emulated) return 0; // its times have no meaning
    double all = load + look + store;
    experiment_at(e, "scan_onchip", "n=%zu", n);
    experiment_value(e, "cycles", all / tiles, "cycles");
    experiment_value(e, "load and scan", load / all, "");
    experiment_value(e, "find the prefix", look / all, "");
    experiment_value(e, "store", store / all, "");
    return 0;
}

static int measure(struct experiment *e, size_t n, struct fault *fault)
{
    struct division d = onchip_division(n, sizeof(float));
    unsigned tiles = (unsigned)tiles_in(n, d, sizeof(float));
    size_t held = onchip_held_bytes(d.rows, sizeof(float));
    size_t bytes = sizeof(struct workspace) + tiles * sizeof(state<float>);
    auto kernel = scan_onchip<true, false, float, float>;
    struct workspace *w;
    struct moments *on_device, *m = (struct moments *)malloc(tiles * sizeof *m);
    float *in, *out, *got = (float *)malloc(n * sizeof *got);

    CUDA_CHECK(fault, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           (int)held));
    CUDA_CHECK(fault, cudaMalloc(&in, n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&out, n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&w, bytes));
    CUDA_CHECK(fault, cudaMalloc(&on_device, tiles * sizeof *m));
    CUDA_CHECK(fault, cudaMemset(w, 0, bytes));
    CUDA_CHECK(fault, cudaMemcpyToSymbol(g_moments, &on_device, sizeof on_device));
    CUDA_CHECK(fault, cudaMemcpyToSymbol(g_emulated, &e->emulated, sizeof e->emulated));
    ones<<<(unsigned)((n - 1) / 256 + 1), 256>>>(in, n);
    // Twice, because the first run has to fetch code and tables.
    for (int i = 0; i < (e->emulated ? 1 : 2); i++)
        kernel<<<tiles, ONCHIP_THREADS, held>>>(out, in, n, d.rows / PART_ROWS, true, w);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaMemcpy(m, on_device, tiles * sizeof *m, cudaMemcpyDeviceToHost));
    CUDA_CHECK(fault, cudaMemcpy(got, out, n * sizeof *got, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++)
        if (got[i] != (float)((i + APART - 1) / APART))
            return fail(fault, EXIT_WRONG, "element %zu is %g.", i, got[i]);
    int code = show(e, m, tiles, n, fault);
    CUDA_CHECK(fault, cudaFree(on_device));
    CUDA_CHECK(fault, cudaFree(w));
    CUDA_CHECK(fault, cudaFree(out));
    CUDA_CHECK(fault, cudaFree(in));
    free(got);
    free(m);
    return code;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "most of the time either loads alone are on their way, or stores alone.";
    if (e->emulated) return measure(e, EMULATED, fault);
    for (int i = 0; i < SIZES; i++)
        if (measure(e, sizes[i], fault)) return fault->code;
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("12-held", "Where the time of step 12's scan_onchip goes", run, argc,
                           argv);
}
