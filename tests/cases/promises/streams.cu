/*
 * streams: several scans at once, and scans in graphs.
 *
 * What it shows: four streams scan arrays of their own again and again, with a workspace each, of
 * sizes that different kernels take; and graphs that were captured once are launched many times.
 * Every element of every scan is compared with its known sum, on the GPU, directly after the scan.
 * How to run it: make promises && build/promises/12-streams
 */
#include "common/experiment/experiment.h"
#include "known.cuh"
#include "steps/12-pipeline/parts/shape.h"

#define STREAMS 4
static const size_t on_gpu[STREAMS] = {1 << 13, 1 << 18, WAVE_MAX(4) + 1, 1 << 26};
static const size_t on_emulator[STREAMS] = {5000, 70000, 100001, WAVE_MAX(4) + 77};

/* The buffers and the state of one stream. */
struct work {
    size_t n, bytes;
    float *in, *out;
    void *workspace;
    unsigned long long *wrong; // elements of all scans so far
    cudaStream_t stream;
};

static int begin(struct work *w, size_t n, struct fault *fault)
{
    w->n = n;
    CUDA_CHECK(fault, cudaMalloc(&w->in, n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&w->out, n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&w->wrong, sizeof *w->wrong));
    CUDA_CHECK(fault, cudaMemset(w->wrong, 0, sizeof *w->wrong));
    CUDA_CHECK(fault, cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking));
    CUDA_CHECK(fault, (make_workspace<float, float>(&w->workspace, &w->bytes, n)));
    CUDA_CHECK(fault, known_fill(w->in, n, w->stream));
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    return 0;
}

static int end(struct work *w, unsigned long long *wrong, struct fault *fault)
{
    CUDA_CHECK(fault, cudaMemcpy(wrong, w->wrong, sizeof *wrong, cudaMemcpyDeviceToHost));
    CUDA_CHECK(fault, cudaStreamDestroy(w->stream));
    CUDA_CHECK(fault, cudaFree(w->in));
    CUDA_CHECK(fault, cudaFree(w->out));
    CUDA_CHECK(fault, cudaFree(w->wrong));
    CUDA_CHECK(fault, cudaFree(w->workspace));
    return 0;
}

/* Clears the output, scans, and checks the result. */
static cudaError_t scan_and_check(struct work *w)
{
    CUDA_TRY(cudaMemsetAsync(w->out, 0xFF, w->n * sizeof(float), w->stream));
    CUDA_TRY(scan(false, w->workspace, &w->bytes, w->out, w->in, w->n, w->stream));
    return known_check<float>(w->out, w->n, false, w->wrong, w->stream);
}

static int say(struct experiment *e, const char *variant, size_t n, int times,
               unsigned long long wrong, struct fault *fault)
{
    experiment_at(e, variant, "%zu", n);
    experiment_value(e, "scans", times, "");
    experiment_value(e, "wrong", (double)wrong, "");
    if (wrong > 0)
        return fail(fault, EXIT_WRONG, "%s: %llu elements are wrong in %d scans of %zu.", variant,
                    wrong, times, n);
    return 0;
}

static int run_streams(struct experiment *e, const size_t *sizes, struct fault *fault)
{
    struct work work[STREAMS];
    int rounds = e->emulated ? 1 : 200, code = 0;
    for (int s = 0; s < STREAMS; s++)
        if (begin(&work[s], sizes[s], fault)) return fault->code;
    for (int round = 0; round < rounds; round++)
        for (int s = 0; s < STREAMS; s++) CUDA_CHECK(fault, scan_and_check(&work[s]));
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    for (int s = 0; s < STREAMS; s++) {
        unsigned long long wrong;
        if (end(&work[s], &wrong, fault)) return fault->code;
        if (!code) code = say(e, "four streams", sizes[s], rounds, wrong, fault);
    }
    return code;
}

static int run_graph(struct experiment *e, size_t n, struct fault *fault)
{
    int replays = e->emulated ? 2 : 1000;
    struct work w;
    unsigned long long wrong;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    if (begin(&w, n, fault)) return fault->code;
    CUDA_CHECK(fault, cudaStreamBeginCapture(w.stream, cudaStreamCaptureModeThreadLocal));
    CUDA_CHECK(fault, scan_and_check(&w));
    CUDA_CHECK(fault, cudaStreamEndCapture(w.stream, &graph));
    CUDA_CHECK(fault, cudaGraphInstantiate(&exec, graph, 0));
    for (int replay = 0; replay < replays; replay++)
        CUDA_CHECK(fault, cudaGraphLaunch(exec, w.stream));
    CUDA_CHECK(fault, cudaStreamSynchronize(w.stream));
    CUDA_CHECK(fault, cudaGraphExecDestroy(exec));
    CUDA_CHECK(fault, cudaGraphDestroy(graph));
    if (end(&w, &wrong, fault)) return fault->code;
    return say(e, "graph", n, replays, wrong, fault);
}

static int run(struct experiment *e, struct fault *fault)
{
    const size_t *sizes = e->emulated ? on_emulator : on_gpu;
    int code = run_streams(e, sizes, fault);
    for (int s = 0; s < STREAMS && !code; s++) code = run_graph(e, sizes[s], fault);
    return code;
}

int main(int argc, char **argv)
{
    return experiment_main("12-streams", "Several scans at once, and scans in graphs", run, argc,
                           argv);
}
