/*
 * look-back: how far tiles look back, and the cost of waiting and of clearing the states.
 *
 * What it shows: a histogram of the number of states that a tile adds until it finds a prefix
 * (states_4 means three or four, and so on in powers of two). Then three times: of the scan; of the
 * kernel alone, with the states cleared before the clock starts; and of a scan whose tiles do not
 * look back, so its results are wrong.
 * From: Merrill and Garland (2016), section 4.
 * How to run it: make experiment-11-look-back
 */
#include "common/experiment/experiment.h"
#include "common/step/step.h"
#include "common/step/float4.cuh"
#include "steps/11-single-pass/scan.h"

#include <stdlib.h>

namespace usual
{
#include "steps/11-single-pass/scan.cu"
}

// Step 11 again, with tiles that record how many states they have added.
namespace counted
{
static __device__ int *g_distances;
#undef LOOKED_BACK
#define LOOKED_BACK(tile, states)                                                                  \
    if (threadIdx.x == 0) g_distances[tile] = states
#undef STEP11_LOOK_BACK_CUH
#define step11_scan      counted_scan
#define step11_workspace counted_workspace
#include "steps/11-single-pass/scan.cu"
#undef step11_scan
#undef step11_workspace
} // namespace counted

// Step 11 again, with tiles that do not wait for each other.
namespace alone
{
#undef LOOKED_BACK
#undef STEP11_LOOK_BACK_CUH
#include "steps/11-single-pass/look_back.cuh"
#define look_back(g_states, tile) 0
#define step11_scan               alone_scan
#define step11_workspace          alone_workspace
#include "steps/11-single-pass/scan.cu"
#undef step11_scan
#undef step11_workspace
#undef look_back
} // namespace alone

#define POWERS 16 // rows of the histogram: up to 2^15 states

struct scans {
    scan_fn *scan;
    int variant;
    size_t n;
    float *out, *in;
    void *workspace;
};

static size_t tiles_of(const struct scans *s) { return (s->n - 1) / TILE(VECTORS(s->variant)) + 1; }

static cudaError_t whole(void *context, cudaStream_t stream)
{
    struct scans *s = (struct scans *)context;
    return s->scan(s->out, s->in, s->n, s->variant, s->workspace, stream);
}

static cudaError_t clear(void *context, cudaStream_t stream)
{
    struct scans *s = (struct scans *)context;
    return cudaMemsetAsync(s->workspace, 0, (tiles_of(s) + 1) * sizeof(uint64_t), stream);
}

static cudaError_t kernel_only(void *context, cudaStream_t stream)
{
    struct scans *s = (struct scans *)context;
    uint64_t *g_states = (uint64_t *)s->workspace;
    auto kernel = s->variant == TILE_2048   ? usual::scan_tiles<VECTORS(TILE_2048)>
                  : s->variant == TILE_4096 ? usual::scan_tiles<VECTORS(TILE_4096)>
                                            : usual::scan_tiles<VECTORS(TILE_8192)>;
    kernel<<<tiles_of(s), THREADS, 0, stream>>>(s->out, s->in, g_states,
                                                (unsigned *)(g_states + tiles_of(s)), s->n);
    return cudaGetLastError();
}

// ---- times --------------------------------------------------------------------------------------

static int time_it(struct experiment *e, const char *how, run_fn *prepare, run_fn *work,
                   struct scans *s, struct fault *fault)
{
    struct timing timing;
    experiment_at(e, how, "tile=%d n=%zu", TILE(VECTORS(s->variant)), s->n);
    if (timer_run(&e->timer, prepare, work, s, e->emulated ? 0 : 15, &timing, fault))
        return fault->code;
    if (!e->emulated) experiment_value(e, "time", timing.median, "s");
    return 0;
}

static int times(struct experiment *e, struct scans *s, struct fault *fault)
{
    s->scan = usual::step11_scan;
    if (time_it(e, "scan", NULL, whole, s, fault)) return fault->code;
    if (time_it(e, "cleared before", clear, kernel_only, s, fault)) return fault->code;
    s->scan = alone::alone_scan;
    return time_it(e, "looks nowhere", NULL, whole, s, fault);
}

// ---- the histogram ------------------------------------------------------------------------------

static int histogram(struct experiment *e, struct scans *s, struct fault *fault)
{
    size_t tiles = tiles_of(s), bytes = tiles * sizeof(int), up_to[POWERS] = {};
    int *distances = (int *)malloc(bytes), *on_device, most = 0;
    double sum = 0;

    CUDA_CHECK(fault, cudaMalloc(&on_device, bytes));
    CUDA_CHECK(fault, cudaMemset(on_device, 0, bytes));
    CUDA_CHECK(fault, cudaMemcpyToSymbol(counted::g_distances, &on_device, sizeof on_device));
    s->scan = counted::counted_scan;
    CUDA_CHECK(fault, whole(s, e->timer.stream));
    CUDA_CHECK(fault, cudaStreamSynchronize(e->timer.stream));
    CUDA_CHECK(fault, cudaMemcpy(distances, on_device, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(fault, cudaFree(on_device));

    for (size_t tile = 0; tile < tiles; tile++) {
        int power = 0, distance = distances[tile];
        // The first tile does not look back; each other tile adds at most all tiles before it.
        if (distance < (tile > 0) || distance > (int)tile)
            return fail(fault, EXIT_WRONG, "tile %zu has added %d states.", tile, distance);
        if (distance > most) most = distance;
        sum += distance;
        while (power < POWERS - 1 && 1 << power < distance) power++;
        up_to[power] += tile > 0;
    }
    free(distances);

    experiment_at(e, "distance", "tile=%d n=%zu", TILE(VECTORS(s->variant)), s->n);
    experiment_value(e, "tiles", (double)tiles, "");
    experiment_value(e, "mean", sum / (double)(tiles - 1), "");
    experiment_value(e, "most", most, "");
    for (int power = 0; power < POWERS && 1 << power < 2 * most; power++) {
        char metric[32];
        snprintf(metric, sizeof metric, "states_%d", 1 << power);
        experiment_value(e, metric, (double)up_to[power], "");
    }
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "a tile adds up dozens of states on a GPU, and waiting takes half of "
                "the time at 2^28.";
    static const size_t on_gpu[] = {1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28, 0};
    static const size_t emulated[] = {1 << 18, 0};
    const size_t *sizes = e->emulated ? emulated : on_gpu;
    size_t most = e->emulated ? 1 << 18 : 1 << 28;
    struct scans s = {};

    CUDA_CHECK(fault, cudaMalloc(&s.in, most * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&s.out, most * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&s.workspace, (most / TILE(2) + 2) * sizeof(uint64_t)));
    CUDA_CHECK(fault, cudaMemset(s.in, 0, most * sizeof(float)));
    for (s.variant = TILE_2048; s.variant <= TILE_8192; s.variant++)
        for (const size_t *n = sizes; *n; n++) {
            s.n = *n;
            if (times(e, &s, fault)) return fault->code;
            if (*n > 1 << 16 && histogram(e, &s, fault)) return fault->code;
        }
    CUDA_CHECK(fault, cudaFree(s.in));
    CUDA_CHECK(fault, cudaFree(s.out));
    CUDA_CHECK(fault, cudaFree(s.workspace));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("11-look-back", "How far tiles look back, and what it costs", run, argc,
                           argv);
}
