/* graph.c — the time of a launch in a graph of many: see experiment.h. */
#include "experiment.h"

#include <stdio.h>

#define RUNS_IN_GRAPH 20
#define GRAPH_ROUNDS  11

/* Captures RUNS_IN_GRAPH runs of the work, one behind the other. */
static int capture(struct experiment *e, const struct experiment_work *w, cudaGraphExec_t *runs,
                   struct fault *fault)
{
    cudaStream_t stream = e->timer.stream;
    cudaGraph_t graph;
    CUDA_CHECK(fault, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < RUNS_IN_GRAPH && !error; i++) error = w->work(w->context, stream);
    cudaError_t end = cudaStreamEndCapture(stream, &graph);
    CUDA_CHECK(fault, error);
    CUDA_CHECK(fault, end);
    error = cudaGraphInstantiate(runs, graph, 0);
    cudaGraphDestroy(graph);
    CUDA_CHECK(fault, error);
    return 0;
}

static int time_once(struct experiment *e, cudaGraphExec_t runs, double *seconds,
                     struct fault *fault)
{
    float milliseconds;
    CUDA_CHECK(fault, cudaEventRecord(e->timer.start, e->timer.stream));
    CUDA_CHECK(fault, cudaGraphLaunch(runs, e->timer.stream));
    CUDA_CHECK(fault, cudaEventRecord(e->timer.stop, e->timer.stream));
    CUDA_CHECK(fault, cudaEventSynchronize(e->timer.stop));
    CUDA_CHECK(fault, cudaEventElapsedTime(&milliseconds, e->timer.start, e->timer.stop));
    *seconds = milliseconds * 1e-3 / RUNS_IN_GRAPH;
    return 0;
}

int experiment_in_graph(struct experiment *e, const struct experiment_work *w, struct fault *fault)
{
    cudaGraphExec_t runs;
    double seconds[GRAPH_ROUNDS], first;
    if (e->emulated) return 0;
    int code = capture(e, w, &runs, fault);
    if (code) return code;
    code = time_once(e, runs, &first, fault); /* uploads the graph */
    for (int i = 0; i < GRAPH_ROUNDS && !code; i++) code = time_once(e, runs, &seconds[i], fault);
    cudaGraphExecDestroy(runs);
    if (code) return code;
    struct timing timing;
    timing_summarize(&timing, seconds, GRAPH_ROUNDS);
    snprintf(e->variant, sizeof e->variant, "%s", w->variant);
    experiment_value(e, "time_in_graph", timing.median, "s");
    return 0;
}
