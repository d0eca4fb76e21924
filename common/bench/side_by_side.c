#include "bench.h"

#include "common/harness/print/progress.h"
#include "common/step/cuda_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRAPH_MOST    64 /* runs in a graph */
#define GRAPH_LEAST   8
#define GRAPH_NO_L2   3   /* on the emulator, which has no L2 to fill */
#define ALIGN_NUMBERS 256 /* elements: aligns the numbers of each run as cudaMalloc does */
#define FEWEST_REPS   7   /* of a slow contender */
#define PATIENCE      0.3 /* seconds that a contender's timed runs may take together */

/* ---- numbers of runs, and memory ----------------------------------------------------------- */

static size_t stride_for(size_t n)
{
    return (n + ALIGN_NUMBERS - 1) / ALIGN_NUMBERS * ALIGN_NUMBERS;
}

static size_t bytes_of(size_t n, enum element element)
{
    return n * (element_size(element) + element_size(element_of_sum(element)));
}

size_t side_by_side_graph_runs(size_t n, enum element element, size_t l2)
{
    if (l2 == 0) return GRAPH_NO_L2;
    size_t runs = 2 * l2 / bytes_of(stride_for(n), element) + 1;
    return runs < GRAPH_LEAST ? GRAPH_LEAST : runs > GRAPH_MOST ? GRAPH_MOST : runs;
}

/* An upper limit for the speed of memory: at this speed, a scan that takes GRAPH_BELOW or longer is
 * not timed in graphs. */
#define BYTES_A_SECOND 8e12

static bool may_need_graph(size_t n, enum element element)
{
    return (double)bytes_of(n, element) / BYTES_A_SECOND < GRAPH_BELOW;
}

size_t side_by_side_numbers(size_t n, enum element element, size_t l2)
{
    if (!may_need_graph(n, element)) return n;
    return stride_for(n) * side_by_side_graph_runs(n, element, l2);
}

static size_t workspace_bytes(const struct contender *c, size_t n)
{
    return c->step && c->step->workspace ? c->step->workspace(n, c->variant) : 0;
}

size_t side_by_side_device_bytes(const struct contender *contenders, size_t count, size_t n,
                                 enum element element, size_t l2)
{
    size_t numbers = side_by_side_numbers(n, element, l2);
    size_t bytes = buffer_room(numbers * element_size(element_of_sum(element)), 0);
    for (size_t i = 0; i < count; i++)
        if (!contenders[i].step || !contenders[i].step->on_host)
            bytes += buffer_room(workspace_bytes(&contenders[i], n), 0);
    return bytes;
}

double side_by_side_bytes(const struct side_by_side *s)
{
    return (double)bytes_of(s->n, s->data->element);
}

/* Half of the bytes that a scan moves: a copy both reads and writes each byte. */
size_t side_by_side_copied_bytes(const struct side_by_side *s)
{
    return bytes_of(s->n, s->data->element) / 2;
}

/* ---- one run ------------------------------------------------------------------------------- */

cudaError_t side_by_side_launch(const struct side_by_side *s, const struct entry *e, size_t window,
                                cudaStream_t stream)
{
    enum element element = s->data->element, sum = element_of_sum(element);
    size_t start = window * s->stride;
    void *out = (char *)s->out.data + start * element_size(sum);
    const void *in = (const char *)s->data->in + start * element_size(element);
    const struct contender *contender = &e->contender;
    if (contender->way)
        return contender->way->copy(out, (const char *)s->data->sums + start * element_size(sum),
                                    side_by_side_copied_bytes(s), stream);
    bool on_host = contender->step->on_host;
    return contender->step->scan(
        on_host ? e->host_out.data : out, on_host ? s->data->host_in : in, s->n, contender->variant,
        on_host ? NULL : e->workspace.data, on_host ? NULL : stream);
}

#define LEAD_MOST 5e-3 /* seconds: the GPU is kept busy no longer before a run */

void entry_note_lead(struct entry *e, double seconds)
{
    if (seconds > LEAD_MOST) seconds = LEAD_MOST;
    if (e->lead == 0 || seconds < e->lead) e->lead = seconds;
}

struct run {
    const struct side_by_side *bench;
    struct entry *entry;
};

static cudaError_t run(void *context, cudaStream_t stream)
{
    struct run *r = context;
    double start = clock_seconds();
    cudaError_t error = side_by_side_launch(r->bench, r->entry, 0, stream);
    entry_note_lead(r->entry, clock_seconds() - start);
    return error;
}

/* ---- rounds -------------------------------------------------------------------------------- */

/* A contender's timed runs or graphs. */
struct turn {
    double *seconds;
    int reps, done;
    cudaGraphExec_t graph;
    cudaEvent_t start, stop; /* in the graph */
};

static int time_run(struct side_by_side *s, struct entry *e, double *seconds, struct fault *fault)
{
    struct run r = {s, e};
    struct timer timer = s->timer;
    timer.on_host = e->contender.step && e->contender.step->on_host;
    timer.lead = e->lead;
    CUDA_CHECK(fault, side_by_side_poison(s, e));
    return timer_once(&timer, run, &r, seconds, fault);
}

struct graph_run {
    struct entry *entry;
    cudaGraphExec_t graph;
};

static cudaError_t launch_graph(void *context, cudaStream_t stream)
{
    struct graph_run *r = context;
    double start = clock_seconds();
    cudaError_t error = cudaGraphLaunch(r->graph, stream);
    entry_note_lead(r->entry, clock_seconds() - start);
    return error;
}

static int time_graph(struct side_by_side *s, struct entry *e, struct turn *turn, double *seconds,
                      struct fault *fault)
{
    float milliseconds;
    struct graph_run r = {e, turn->graph};
    s->timer.lead = e->lead;
    CUDA_CHECK(fault, side_by_side_poison(s, e));
    int code = timer_once(&s->timer, launch_graph, &r, seconds, fault);
    if (code) return code;
    CUDA_CHECK(fault, cudaEventElapsedTime(&milliseconds, turn->start, turn->stop));
    *seconds = 1e-3 * milliseconds / (double)s->runs;
    return 0;
}

/* One timed run or graph of a contender. If its result is wrong, the contender is not timed any
 * further and has no time. */
static int time_turn(struct side_by_side *s, struct entry *e, struct turn *turn,
                     struct fault *fault)
{
    char run[60];
    double *seconds = &turn->seconds[turn->done++];
    int code =
        turn->graph ? time_graph(s, e, turn, seconds, fault) : time_run(s, e, seconds, fault);
    snprintf(run, sizeof run, "timed %s %d of %d", turn->graph ? "graph" : "run", turn->done,
             turn->reps);
    if (!code) code = side_by_side_check(s, e, turn->graph, run, fault);
    if (!e->right) turn->reps = turn->done = 0;
    return code;
}

/* All rounds. Round r begins with contender r. */
static int time_rounds(struct side_by_side *s, struct turn *turns, const char *label,
                       struct fault *fault)
{
    int code = 0;
    progress_begin(label, (size_t)s->rounds);
    for (int round = 0; round < s->rounds && !code; round++) {
        for (size_t i = 0; i < s->count && !code; i++) {
            size_t at = (i + (size_t)round) % s->count;
            struct turn *turn = &turns[at];
            if (turn->done < turn->reps) code = time_turn(s, &s->entries[at], turn, fault);
        }
        progress_at((size_t)round + 1);
    }
    progress_end();
    return code;
}

/* The number of timed runs of a contender whose run takes this many seconds. */
static int reps_for(const struct side_by_side *s, double seconds)
{
    if (seconds * s->rounds <= PATIENCE) return s->rounds;
    int fit = (int)(PATIENCE / seconds), fewest = FEWEST_REPS;
    if (fewest > s->rounds) fewest = s->rounds;
    return fit > fewest ? fit : fewest;
}

/* ---- cold ---------------------------------------------------------------------------------- */

/* Verifies each contender, which also warms it up, and measures how long a run takes, which is
 * checked as well. */
static int begin_cold(struct side_by_side *s, struct turn *turns, struct fault *fault)
{
    int code = 0;
    progress_begin("verifying", s->count);
    for (size_t i = 0; i < s->count && !code; i++) {
        double once = 0;
        code = side_by_side_verify(s, &s->entries[i], NULL, fault);
        if (!code && s->entries[i].right) {
            code = time_run(s, &s->entries[i], &once, fault);
            if (!code) code = side_by_side_check(s, &s->entries[i], false, "the second run", fault);
            turns[i].reps = s->entries[i].right ? reps_for(s, once) : 0;
        }
        progress_at(i + 1);
    }
    progress_end();
    return code;
}

static int time_cold(struct side_by_side *s, struct turn *turns, struct fault *fault)
{
    int code = begin_cold(s, turns, fault);
    if (!code) code = time_rounds(s, turns, "cold runs", fault);
    for (size_t i = 0; i < s->count; i++)
        timing_summarize(&s->entries[i].cold, turns[i].seconds, turns[i].done);
    return code;
}

/* ---- in graphs ----------------------------------------------------------------------------- */

/* Captures all runs of one contender between two events. The capture is ended even if a launch in
 * it has failed. */
static cudaError_t capture(struct side_by_side *s, const struct entry *e, struct turn *turn)
{
    cudaStream_t stream = s->timer.stream;
    cudaGraph_t graph = NULL;
    CUDA_TRY(cudaEventCreate(&turn->start));
    CUDA_TRY(cudaEventCreate(&turn->stop));
    CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaError_t error = cudaEventRecordWithFlags(turn->start, stream, cudaEventRecordExternal);
    for (size_t k = 0; k < s->runs && !error; k++) error = side_by_side_launch(s, e, k, stream);
    if (!error) error = cudaEventRecordWithFlags(turn->stop, stream, cudaEventRecordExternal);
    cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (!error) error = ended;
    if (!error) error = cudaGraphInstantiate(&turn->graph, graph, 0);
    if (!error) error = cudaGraphUpload(turn->graph, stream);
    if (graph) cudaGraphDestroy(graph);
    return error;
}

static void drop_graph(struct turn *turn)
{
    if (turn->graph) cudaGraphExecDestroy(turn->graph);
    if (turn->start) cudaEventDestroy(turn->start);
    if (turn->stop) cudaEventDestroy(turn->stop);
    turn->graph = NULL;
    turn->start = turn->stop = NULL;
}

/* A contender that cannot be captured has no time in graphs, and its entry says why. */
static int begin_graph(struct side_by_side *s, struct entry *e, struct turn *turn,
                       struct fault *fault)
{
    turn->reps = turn->done = 0;
    e->lead = 0;
    if (!e->right || (e->contender.step && e->contender.step->on_host)) return 0;
    cudaError_t error = capture(s, e, turn);
    if (error) {
        snprintf(e->wrong, sizeof e->wrong, "not captured: %s", cudaGetErrorString(error));
        drop_graph(turn);
        cudaGetLastError(); /* clears the error */
        return 0;
    }
    int code = side_by_side_verify(s, e, turn->graph, fault);
    if (!code && e->right) turn->reps = reps_for(s, e->cold.median * (double)s->runs);
    return code;
}

static int time_graphs(struct side_by_side *s, struct turn *turns, struct fault *fault)
{
    int code = 0;
    for (size_t i = 0; i < s->count && !code; i++)
        code = begin_graph(s, &s->entries[i], &turns[i], fault);
    if (!code) code = time_rounds(s, turns, "runs in graphs", fault);
    for (size_t i = 0; i < s->count; i++)
        timing_summarize(&s->entries[i].graph, turns[i].seconds, turns[i].done);
    for (size_t i = 0; i < s->count; i++) drop_graph(&turns[i]);
    return code;
}

static bool is_short(const struct side_by_side *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct entry *e = &s->entries[i];
        bool on_host = e->contender.step && e->contender.step->on_host;
        if (!on_host && e->cold.reps && e->cold.median < GRAPH_BELOW) return true;
    }
    return false;
}

/* ---- everything ----------------------------------------------------------------------------- */

static int make_workspace(struct entry *e, size_t bytes, struct fault *fault)
{
    int code = buffer_make(&e->workspace, bytes, 0, false, "a workspace", fault);
    if (code || !e->contender.step->clear_workspace) return code;
    CUDA_CHECK(fault, cudaMemset(e->workspace.data, 0, bytes));
    return 0;
}

static int make_buffers(struct side_by_side *s, size_t numbers, struct fault *fault)
{
    size_t sum = element_size(element_of_sum(s->data->element));
    int code = buffer_make(&s->out, numbers * sum, 0, false, "the outputs", fault);
    for (size_t i = 0; i < s->count && !code; i++) {
        struct entry *e = &s->entries[i];
        size_t workspace = workspace_bytes(&e->contender, s->n);
        bool on_host = e->contender.step && e->contender.step->on_host;
        if (on_host)
            code = buffer_make(&e->host_out, s->n * sum, 0, true, "an output", fault);
        else if (workspace)
            code = make_workspace(e, workspace, fault);
    }
    return code;
}

static void free_buffers(struct side_by_side *s)
{
    buffer_free(&s->out);
    for (size_t i = 0; i < s->count; i++) {
        buffer_free(&s->entries[i].workspace);
        buffer_free(&s->entries[i].host_out);
    }
}

static int time_all(struct side_by_side *s, struct turn *turns, size_t l2, struct fault *fault)
{
    int code = time_cold(s, turns, fault);
    bool room = side_by_side_numbers(s->n, s->data->element, l2) > s->n;
    if (!code && room && is_short(s)) code = time_graphs(s, turns, fault);
    return code;
}

int side_by_side_time(struct side_by_side *s, const struct data *data,
                      const struct contender *contenders, size_t count, size_t n, size_t l2,
                      enum flush flush, int rounds, struct fault *fault)
{
    struct turn turns[CONTENDERS] = {{0}};
    size_t numbers = side_by_side_numbers(n, data->element, l2);
    *s = (struct side_by_side){.data = data, .n = n, .rounds = rounds};
    s->runs = side_by_side_graph_runs(n, data->element, l2);
    s->stride = stride_for(n);
    s->count = count;
    for (size_t i = 0; i < count; i++) s->entries[i].contender = contenders[i];
    int code = timer_open(&s->timer, false, fault);
    if (code) return code;
    s->timer.how = flush;
    code = fingerprinter_open(&s->fingerprinter, false, fault);
    double *seconds = allocated(calloc(count * (size_t)rounds, sizeof *seconds));
    for (size_t i = 0; i < count; i++) turns[i].seconds = &seconds[i * (size_t)rounds];
    if (!code) code = make_buffers(s, numbers, fault);
    (void)cudaGetLastError(); /* an earlier error is not a contender's */
    if (!code) code = time_all(s, turns, l2, fault);
    free_buffers(s);
    free(seconds);
    fingerprinter_close(&s->fingerprinter);
    timer_close(&s->timer);
    return code;
}

/* ---- results ------------------------------------------------------------------------------- */

double entry_seconds(const struct entry *e)
{
    return e->graph.reps ? e->graph.median : e->cold.reps ? e->cold.median : 0;
}

const struct entry *side_by_side_roof(const struct side_by_side *s)
{
    const struct entry *best = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const struct entry *e = &s->entries[i];
        if (!e->contender.way || entry_seconds(e) == 0) continue;
        if (!best || entry_seconds(e) < entry_seconds(best)) best = e;
    }
    return best;
}

const struct entry *side_by_side_cub(const struct side_by_side *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (contender_is_cub(&s->entries[i].contender) && entry_seconds(&s->entries[i]) > 0)
            return &s->entries[i];
    return NULL;
}
