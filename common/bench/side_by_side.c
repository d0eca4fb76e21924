/* side_by_side.c — all contenders at one size: timed in turns, and verified. */
#include "bench.h"
#include "common/harness/print/print.h"
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

/* ---- numbers of runs, and memory ------------------------------------------------------------- */

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

double side_by_side_bytes(const struct side_by_side *s)
{
    return (double)bytes_of(s->n, s->data->element);
}

/* Half of the bytes that a scan moves: a copy both reads and writes each byte. */
static size_t copied_bytes(const struct side_by_side *s)
{
    return bytes_of(s->n, s->data->element) / 2;
}

/* ---- one run --------------------------------------------------------------------------------- */

static bool is_on_host(const struct entry *e)
{
    return e->contender.step && e->contender.step->on_host;
}

/* One run of a contender, on the numbers from window * stride on. */
static cudaError_t launch(const struct side_by_side *s, const struct entry *e, size_t window,
                          cudaStream_t stream)
{
    enum element element = s->data->element, sum = element_of_sum(element);
    size_t start = window * s->stride;
    void *out = (char *)s->out.data + start * element_size(sum);
    const void *in = (const char *)s->data->in + start * element_size(element);
    const struct contender *contender = &e->contender;
    if (contender->way)
        return contender->way->copy(out, (const char *)s->data->sums + start * element_size(sum),
                                    copied_bytes(s), stream);
    bool on_host = is_on_host(e);
    return contender->step->scan(
        on_host ? e->host_out.data : out, on_host ? s->data->host_in : in, s->n, contender->variant,
        on_host ? NULL : e->workspace.data, on_host ? NULL : stream);
}

/* What the turns of a contender need. */
struct timed {
    struct side_by_side *bench;
    struct entry *entry;
    struct turn *turn;
    cudaGraphExec_t graph;   /* many runs; NULL: a single one */
    cudaEvent_t start, stop; /* in the graph */
};

/* Runs a contender and keeps how long the host took to launch it. The least time so far counts: the
 * first run also loads the kernels, and a later one may have waited for room in the queue. */
static cudaError_t run(void *context, cudaStream_t stream)
{
    struct timed *t = context;
    double start = clock_seconds(), *lead = &t->turn->lead;
    cudaError_t error = t->graph ? cudaGraphLaunch(t->graph, stream)
                                 : launch(t->bench, t->entry, 0, stream);
    double seconds = clock_seconds() - start;
    if (seconds > LEAD_MOST) seconds = LEAD_MOST;
    if (*lead == 0 || seconds < *lead) *lead = seconds;
    return error;
}

/* ---- is what a contender has written right? Every element, and nothing beyond ---------------- */

/* Ways to copy move bytes; this is the number of whole sums in them. */
static size_t copied_sums(const struct side_by_side *s)
{
    return copied_bytes(s) / element_size(element_of_sum(s->data->element));
}

static int look_at_window(const struct side_by_side *s, struct entry *e, size_t window,
                          struct fault *fault)
{
    struct difference found;
    size_t start = window * s->stride;
    const char *out = (const char *)s->out.data;
    out += start * element_size(element_of_sum(s->data->element));
    if (e->contender.way)
        CUDA_CHECK(fault, data_compare(s->data, out, start, copied_sums(s), true, &found));
    else if (contender_copies(&e->contender))
        CUDA_CHECK(fault, data_compare_input(s->data, out, start, s->n, &found));
    else
        CUDA_CHECK(fault, data_compare(s->data, out, start, s->n, false, &found));
    if (found.count)
        snprintf(e->wrong, sizeof e->wrong, "%llu wrong, first [%llu]", found.count, found.first);
    return 0;
}

/* All numbers, since those behind the contender's are for other sizes. */
static int look_at_input(const struct side_by_side *s, struct entry *e, struct fault *fault)
{
    struct difference found;
    CUDA_CHECK(fault, data_compare_input(s->data, s->data->in, 0, s->data->n, &found));
    if (found.count)
        snprintf(e->wrong, sizeof e->wrong, "the input was modified, first at element %llu",
                 found.first);
    return 0;
}

static void look_at_host(const struct side_by_side *s, struct entry *e)
{
    const struct data *data = s->data;
    const float *got = e->host_out.data;
    for (size_t i = 0; i < s->n && !*e->wrong; i++)
        if (got[i] != (float)data->host_sums[i])
            snprintf(e->wrong, sizeof e->wrong, "[%zu] is %g in place of %d", i, (double)got[i],
                     (int)data->host_sums[i]);
    for (size_t i = 0; i < data->n && !*e->wrong; i++)
        if (data->host_in[i] != data->host[i])
            snprintf(e->wrong, sizeof e->wrong, "the input was modified, first at element %zu", i);
}

static const struct buffer *output_of(const struct side_by_side *s, const struct entry *e)
{
    return is_on_host(e) ? &e->host_out : &s->out;
}

/* Looks at every element of the runs, at the guards and at the input. */
static int look(struct side_by_side *s, struct entry *e, size_t runs, struct fault *fault)
{
    size_t size = element_size(element_of_sum(s->data->element)), room = sizeof e->wrong;
    int code = 0;
    if (is_on_host(e)) {
        look_at_host(s, e);
        return buffer_check(&e->host_out, "the output", size, e->wrong, room, fault);
    }
    for (size_t w = 0; w < runs && !code && !*e->wrong; w++) code = look_at_window(s, e, w, fault);
    if (!code) code = buffer_check(&s->out, "the output", size, e->wrong, room, fault);
    if (!code) code = buffer_check(&e->workspace, "the workspace", size, e->wrong, room, fault);
    if (!code) code = look_at_input(s, e, fault);
    return code;
}

/* Looks at all that a run or a graph has left, unless something is known to be wrong already. What
 * a wrong one may have spoiled is made good for the others. */
static int look_at_all(struct timed *t, struct fault *fault)
{
    struct entry *e = t->entry;
    struct side_by_side *s = t->bench;
    int code = *e->wrong ? 0 : look(s, e, t->graph ? s->runs : 1, fault);
    if (code || !*e->wrong) return code;
    CUDA_CHECK(fault, buffer_renew(output_of(s, e)));
    CUDA_CHECK(fault, data_restore_input(s->data));
    return 0;
}

/* Finds a launch that has failed without an error from the scan. */
static void look_at_errors(struct entry *e)
{
    cudaError_t error = is_on_host(e) ? cudaSuccess : cudaGetLastError();
    if (error)
        snprintf(e->wrong, sizeof e->wrong, "a call in it failed, and it did not say so: %s",
                 cudaGetErrorString(error));
}

/* Fills the contender's outputs with poison. */
static cudaError_t poison(void *context, cudaStream_t stream)
{
    const struct timed *t = context;
    return buffer_poison(output_of(t->bench, t->entry), stream);
}

/* Runs a contender once, or its graph. Then compares every element, and looks at the guards and at
 * the input. Any error is described in entry->wrong. */
static int verify(struct timed *t, struct fault *fault)
{
    struct entry *e = t->entry;
    cudaStream_t stream = t->bench->timer.stream;
    e->right = false;
    e->wrong[0] = '\0';
    CUDA_CHECK(fault, poison(t, stream));
    CUDA_CHECK(fault, run(t, stream));
    CUDA_CHECK(fault, cudaStreamSynchronize(stream));
    look_at_errors(e);
    int code = look_at_all(t, fault);
    e->right = !code && !*e->wrong;
    return code;
}

/* Looks at what a timed run has left. If it is wrong, entry->wrong begins with `name`, that of the
 * run. */
static int check(struct timed *t, const char *name, struct fault *fault)
{
    struct entry *e = t->entry;
    char wrong[sizeof e->wrong];
    look_at_errors(e);
    int code = look_at_all(t, fault);
    if (code || !*e->wrong) return code;
    strcpy(wrong, e->wrong);
    snprintf(e->wrong, sizeof e->wrong, "%.60s is wrong: %.300s", name, wrong);
    e->right = false;
    return 0;
}

/* ---- timed runs ------------------------------------------------------------------------------ */

/* A contender whose result is wrong is not timed any further and has no time. Of a graph, the time
 * between its own events counts. */
static int check_timed(void *context, struct fault *fault)
{
    struct timed *t = context;
    struct turn *turn = t->turn;
    char name[60];
    float milliseconds;
    if (t->graph) {
        CUDA_CHECK(fault, cudaEventElapsedTime(&milliseconds, t->start, t->stop));
        turn->seconds[turn->done - 1] = 1e-3 * milliseconds / (double)t->bench->runs;
    }
    snprintf(name, sizeof name, "timed %s %d of %d", t->graph ? "graph" : "run", turn->done,
             turn->reps);
    int code = check(t, name, fault);
    if (!t->entry->right) turn->reps = turn->done = 0;
    return code;
}

static int check_second(void *context, struct fault *fault)
{
    return check(context, "the second run", fault);
}

/* The number of timed runs of a contender whose run takes this many seconds. */
static int reps_for(const struct side_by_side *s, double seconds)
{
    if (seconds * s->rounds <= PATIENCE) return s->rounds;
    int fit = (int)(PATIENCE / seconds), fewest = FEWEST_REPS;
    if (fewest > s->rounds) fewest = s->rounds;
    return fit > fewest ? fit : fewest;
}

/* ---- cold ------------------------------------------------------------------------------------ */

/* Verifies a contender, which also warms it up, and measures how long a run takes, which is checked
 * as well. */
static int begin_cold(struct timed *t, struct fault *fault)
{
    struct turn *turn = t->turn;
    int code = verify(t, fault);
    if (code || !t->entry->right) return code;
    turn->check = check_second;
    turn->reps = 1;
    code = timer_turns(&t->bench->timer, turn, 1, NULL, fault);
    turn->check = check_timed;
    turn->reps = t->entry->right ? reps_for(t->bench, turn->seconds[0]) : 0;
    turn->done = 0;
    return code;
}

static int time_cold(struct side_by_side *s, struct timed *timed, struct turn *turns,
                     struct fault *fault)
{
    int code = 0;
    progress_begin("verifying", s->count);
    for (size_t i = 0; i < s->count && !code; i++) {
        code = begin_cold(&timed[i], fault);
        progress_at(i + 1);
    }
    progress_end();
    if (!code) code = timer_turns(&s->timer, turns, s->count, "cold runs", fault);
    for (size_t i = 0; i < s->count; i++)
        timing_summarize(&s->entries[i].cold, turns[i].seconds, turns[i].done);
    return code;
}

/* ---- in graphs ------------------------------------------------------------------------------- */

/* Captures all runs of one contender between two events. The capture is ended even if a launch in
 * it has failed. */
static cudaError_t capture(struct timed *t)
{
    const struct side_by_side *s = t->bench;
    cudaStream_t stream = s->timer.stream;
    cudaGraph_t graph = NULL;
    CUDA_TRY(cudaEventCreate(&t->start));
    CUDA_TRY(cudaEventCreate(&t->stop));
    CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaError_t error = cudaEventRecordWithFlags(t->start, stream, cudaEventRecordExternal);
    for (size_t k = 0; k < s->runs && !error; k++) error = launch(s, t->entry, k, stream);
    if (!error) error = cudaEventRecordWithFlags(t->stop, stream, cudaEventRecordExternal);
    cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (!error) error = ended;
    if (!error) error = cudaGraphInstantiate(&t->graph, graph, 0);
    if (!error) error = cudaGraphUpload(t->graph, stream);
    if (graph) cudaGraphDestroy(graph);
    return error;
}

static void drop_graph(struct timed *t)
{
    if (t->graph) cudaGraphExecDestroy(t->graph);
    if (t->start) cudaEventDestroy(t->start);
    if (t->stop) cudaEventDestroy(t->stop);
    t->graph = NULL;
    t->start = t->stop = NULL;
}

/* A contender that cannot be captured has no time in graphs, and its entry says why. */
static int begin_graph(struct timed *t, struct fault *fault)
{
    struct turn *turn = t->turn;
    struct entry *e = t->entry;
    turn->reps = turn->done = 0;
    turn->lead = 0;
    if (!e->right || is_on_host(e)) return 0;
    cudaError_t error = capture(t);
    if (error) {
        snprintf(e->wrong, sizeof e->wrong, "not captured: %s", cudaGetErrorString(error));
        drop_graph(t);
        cudaGetLastError(); /* clears the error */
        return 0;
    }
    int code = verify(t, fault);
    if (!code && e->right) turn->reps = reps_for(t->bench, e->cold.median * (double)t->bench->runs);
    return code;
}

static int time_graphs(struct side_by_side *s, struct timed *timed, struct turn *turns,
                       struct fault *fault)
{
    int code = 0;
    for (size_t i = 0; i < s->count && !code; i++) code = begin_graph(&timed[i], fault);
    if (!code) code = timer_turns(&s->timer, turns, s->count, "runs in graphs", fault);
    for (size_t i = 0; i < s->count; i++)
        timing_summarize(&s->entries[i].graph, turns[i].seconds, turns[i].done);
    for (size_t i = 0; i < s->count; i++) drop_graph(&timed[i]);
    return code;
}

static bool is_short(const struct side_by_side *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct entry *e = &s->entries[i];
        if (!is_on_host(e) && e->cold.reps && e->cold.median < GRAPH_BELOW) return true;
    }
    return false;
}

/* ---- everything ------------------------------------------------------------------------------ */

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
        if (is_on_host(e))
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

static int time_all(struct side_by_side *s, size_t l2, struct fault *fault)
{
    struct turn turns[CONTENDERS];
    struct timed timed[CONTENDERS];
    size_t rounds = (size_t)s->rounds;
    double *seconds = allocated(calloc(s->count * rounds, sizeof *seconds));
    for (size_t i = 0; i < s->count; i++) {
        timed[i] = (struct timed){.bench = s, .entry = &s->entries[i], .turn = &turns[i]};
        turns[i] = (struct turn){.prepare = poison, .work = run, .context = &timed[i]};
        turns[i].on_host = is_on_host(&s->entries[i]);
        turns[i].seconds = &seconds[i * rounds];
    }
    int code = time_cold(s, timed, turns, fault);
    bool room = side_by_side_numbers(s->n, s->data->element, l2) > s->n;
    if (!code && room && is_short(s)) code = time_graphs(s, timed, turns, fault);
    free(seconds);
    return code;
}

int side_by_side_time(struct side_by_side *s, const struct data *data,
                      const struct contender *contenders, size_t count, size_t n, size_t l2,
                      enum flush flush, int rounds, struct fault *fault)
{
    size_t numbers = side_by_side_numbers(n, data->element, l2);
    *s = (struct side_by_side){.data = data, .n = n, .rounds = rounds};
    s->runs = side_by_side_graph_runs(n, data->element, l2);
    s->stride = stride_for(n);
    s->count = count;
    for (size_t i = 0; i < count; i++) s->entries[i].contender = contenders[i];
    int code = timer_open(&s->timer, false, fault);
    if (code) return code;
    s->timer.how = flush;
    code = make_buffers(s, numbers, fault);
    (void)cudaGetLastError(); /* an earlier error is not a contender's */
    if (!code) code = time_all(s, l2, fault);
    free_buffers(s);
    timer_close(&s->timer);
    return code;
}

/* ---- results --------------------------------------------------------------------------------- */

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
