/*
 * timeline: when each role of step 12's pipeline works at each tile.
 *
 * What it shows: the cycles at which the first warp of each role begins and ends a tile, for a few
 * tiles of one block in the middle of a scan, and the means of all tiles. Also which part of its
 * time a block only loads, at its begin, and only stores, at its end. A copy counts as ended
 * when the first role finds it complete. Reading the clock takes time, so these are not the times
 * of an ordinary scan.
 * How to run it: make experiment-12-timeline
 */
#include "common/experiment/experiment.h"

#include <stdlib.h>

/* The moments of a tile: the copy begins; the sum begins and is published; the search for the
 * prefix begins and ends; the scan begins, ends without the prefix, gets the prefix and begins to
 * store, and has stored. */
enum { COPY, SUM, PUBLISHED, LOOKING, FOUND, SCAN, SCANNED, STORE, STORED, MOMENTS };

struct moments {
    long long at[MOMENTS];
    unsigned block;
};
static __device__ struct moments *g_moments; // one per tile
static __device__ bool g_emulated;

/* The first warp of each role records the moment. */
#define MOMENT(tile, what) write_down<what>(tile)
template <int WHAT> static __device__ void write_down(unsigned tile);

#include "common/step/gpu.cuh"
#include "steps/12-pipeline/pipeline.cuh"

/* Records the clock of the multiprocessor. In the emulator each warp has its own clock, which
 * counts its instructions; there the host's clock gives the order. */
template <int WHAT> static __device__ void write_down(unsigned tile)
{
    int warp = threadIdx.x / LANES;
    long long now = clock64();

    if (threadIdx.x % LANES > 0) return;
    if (warp != 0 && warp != SCAN_WARPS && warp != LOOK_WARP && warp != LOAD_WARP) return;
    if (g_emulated) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    g_moments[tile].at[WHAT] = now;
    g_moments[tile].block = blockIdx.x;
}

#define SHOWN 12 // tiles: two rounds of the ring
#define APART 16 // distance of the ones in the input: every sum is exact

struct scan {
    float *out, *in;
    size_t n;
    unsigned tiles, blocks;
    struct workspace *workspace;
    struct moments *moments; // on the host
};

// ---- the rows -----------------------------------------------------------------------------------

/* The next tile of the block that has `tile`, or a number beyond all tiles. */
static unsigned next_of(const struct scan *s, unsigned tile)
{
    unsigned block = s->moments[tile].block;
    for (tile++; tile < s->tiles && s->moments[tile].block != block;) tile++;
    return tile;
}

static long long arrived(const struct moments *m)
{
    long long first = m->at[SUM];
    if (m->at[LOOKING] < first) first = m->at[LOOKING];
    return m->at[SCAN] < first ? m->at[SCAN] : first;
}

static void span(struct experiment *e, const char *role, int k, long long begin, long long end)
{
    if (e->emulated) return; // its times have no meaning
    experiment_at(e, role, "k=%d", k);
    experiment_value(e, "begin", (double)begin, "cycles");
    experiment_value(e, "end", (double)end, "cycles");
}

static void show(struct experiment *e, const struct scan *s, unsigned first)
{
    long long from = s->moments[first].at[COPY];
    unsigned tile = first;

    for (int k = 0; k < SHOWN && tile < s->tiles; k++, tile = next_of(s, tile)) {
        const struct moments *m = &s->moments[tile];
        experiment_at(e, "tile", "k=%d", k);
        experiment_value(e, "number", tile, "");
        span(e, "copy", k, m->at[COPY] - from, arrived(m) - from);
        span(e, "sum", k, m->at[SUM] - from, m->at[PUBLISHED] - from);
        span(e, "look", k, m->at[LOOKING] - from, m->at[FOUND] - from);
        span(e, "scan", k, m->at[SCAN] - from, m->at[SCANNED] - from);
        span(e, "store", k, m->at[STORE] - from, m->at[STORED] - from);
    }
}

/* Means over all tiles: the time of each role, the time that a scan waits for its prefix, and the
 * lead of the sums, which is the number of the block's tiles that are published but not yet scanned
 * when a scan begins. */
static void means(struct experiment *e, const struct scan *s)
{
    double copy = 0, sum = 0, look = 0, scan = 0, wait = 0, store = 0, ahead = 0;

    for (unsigned tile = 0; tile < s->tiles; tile++) {
        const struct moments *m = &s->moments[tile];
        copy += (double)(arrived(m) - m->at[COPY]);
        sum += (double)(m->at[PUBLISHED] - m->at[SUM]);
        look += (double)(m->at[FOUND] - m->at[LOOKING]);
        scan += (double)(m->at[SCANNED] - m->at[SCAN]);
        wait += (double)(m->at[STORE] - m->at[SCANNED]);
        store += (double)(m->at[STORED] - m->at[STORE]);
        unsigned later = tile;
        while (later < s->tiles && s->moments[later].at[PUBLISHED] < m->at[SCAN]) {
            later = next_of(s, later);
            ahead++;
        }
    }
    experiment_at(e, "mean", "n=%zu", s->n);
    experiment_value(e, "copy", copy / s->tiles, "cycles");
    experiment_value(e, "sum", sum / s->tiles, "cycles");
    experiment_value(e, "look", look / s->tiles, "cycles");
    experiment_value(e, "scan", scan / s->tiles, "cycles");
    experiment_value(e, "wait for the prefix", wait / s->tiles, "cycles");
    experiment_value(e, "store", store / s->tiles, "cycles");
    experiment_value(e, "tiles ahead", ahead / s->tiles, "");
}

/* Which part of its time a block stores nothing yet, and which part it copies nothing any more. */
static void edges(struct experiment *e, const struct scan *s)
{
    double begin = 0, end = 0, all = 0;
    for (unsigned tile = 0; tile < s->tiles; tile++) {
        unsigned before = 0;
        while (before < tile && s->moments[before].block != s->moments[tile].block) before++;
        if (before < tile) continue; // it is not the first tile of its block
        unsigned last = tile;
        for (unsigned t = tile; t < s->tiles; t = next_of(s, t)) last = t;
        begin += (double)(s->moments[tile].at[STORE] - s->moments[tile].at[COPY]);
        end += (double)(s->moments[last].at[STORED] - arrived(&s->moments[last]));
        all += (double)(s->moments[last].at[STORED] - s->moments[tile].at[COPY]);
    }
    experiment_at(e, "edges", "n=%zu", s->n);
    experiment_value(e, "before the first store", begin / all, "");
    experiment_value(e, "after the last copy", end / all, "");
}

// ---- the scan -----------------------------------------------------------------------------------

static int check(const struct scan *s, struct fault *fault)
{
    float *out = (float *)malloc(s->n * sizeof(float));
    CUDA_CHECK(fault, cudaMemcpy(out, s->out, s->n * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < s->n; i++)
        if (out[i] != (float)((i + APART - 1) / APART))
            return fail(fault, EXIT_WRONG, "element %zu is %g.", i, out[i]);
    free(out);

    // Checks the order of the moments, by the clock of the tile's multiprocessor.
    for (unsigned tile = 0; tile < s->tiles; tile++) {
        const long long *at = s->moments[tile].at;
        if (at[COPY] > at[SUM] || at[SUM] > at[PUBLISHED] || at[LOOKING] > at[FOUND] ||
            at[SCAN] > at[SCANNED] || at[SCANNED] > at[STORE] || at[STORE] > at[STORED] ||
            at[COPY] > at[SCAN] || at[FOUND] > at[STORE])
            return fail(fault, EXIT_WRONG, "the moments of tile %u are out of order.", tile);
    }
    return 0;
}

static __global__ void ones(float *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) in[i] = i % APART == 0;
}

static int measure(struct experiment *e, size_t n, bool whole, struct fault *fault)
{
    struct scan s = {};
    struct moments *on_device;
    size_t shared = sizeof(ring_of<float, float>);
    auto kernel = scan_pipeline<false, float, float>;

    s.n = n;
    s.tiles = (unsigned)((s.n - 1) / TILE(sizeof(float)) + 1);
    s.blocks = e->emulated ? 2 : e->device.sms;
    size_t bytes = sizeof(struct workspace) + s.tiles * sizeof(state<float>);
    size_t all = s.tiles * sizeof(struct moments);

    CUDA_CHECK(fault, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           (int)shared));
    CUDA_CHECK(fault, cudaMalloc(&s.in, s.n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&s.out, s.n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&s.workspace, bytes));
    CUDA_CHECK(fault, cudaMalloc(&on_device, all));
    CUDA_CHECK(fault, cudaMemset(s.workspace, 0, bytes));
    CUDA_CHECK(fault, cudaMemcpyToSymbol(g_moments, &on_device, sizeof on_device));
    CUDA_CHECK(fault, cudaMemcpyToSymbol(g_emulated, &e->emulated, sizeof e->emulated));
    ones<<<(unsigned)((s.n - 1) / 256 + 1), 256>>>(s.in, s.n);
    // Twice, because the first run has to fetch code and tables.
    for (int i = 0; i < (e->emulated ? 1 : 2); i++)
        kernel<<<s.blocks, PIPELINE_THREADS, shared>>>(s.out, s.in, s.n, s.tiles, s.workspace);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaDeviceSynchronize());

    s.moments = (struct moments *)malloc(all);
    CUDA_CHECK(fault, cudaMemcpy(s.moments, on_device, all, cudaMemcpyDeviceToHost));
    if (check(&s, fault)) return fault->code;
    if (whole) show(e, &s, s.tiles / 2);
    if (!e->emulated) {
        if (whole) means(e, &s);
        edges(e, &s);
    }
    free(s.moments);
    CUDA_CHECK(fault, cudaFree(on_device));
    CUDA_CHECK(fault, cudaFree(s.workspace));
    CUDA_CHECK(fault, cudaFree(s.out));
    CUDA_CHECK(fault, cudaFree(s.in));
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    struct gpu gpu;
    e->lesson = "the sums are some tiles ahead of the scans, and the scans wait for the "
                "look warp.";
    CUDA_CHECK(fault, look_at_gpu(&gpu));
    if (gpu.capability < 90)
        return fail(fault, EXIT_DEVICE,
                    "the pipeline needs compute capability 9.0; the code for this GPU has %d.%d.",
                    gpu.capability / 10, gpu.capability % 10);
    if (e->emulated) return measure(e, (size_t)1 << 19, true, fault);
    int code = measure(e, (size_t)1 << 26, true, fault);
    return code ? code : measure(e, (size_t)1 << 24, false, fault);
}

int main(int argc, char **argv)
{
    return experiment_main("12-timeline", "When each role of step 12 works at each tile", run, argc,
                           argv);
}
