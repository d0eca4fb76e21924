/*
 * side_by_side.c — all contenders at one size: timed in turns, and verified.
 */
#include "bench.h"
#include "common/harness/print/print.h"
#include "common/harness/verify/verify.h"
#include "common/step/cuda_check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes that a way to copy copies. */
static size_t side_by_side_copied_bytes(const struct side_by_side *);

/* Keeps how long the host took to launch a run. The least time so far counts: the first run also
 * loads the kernels, and a later one may have waited for room in the queue. */
static void entry_note_lead(struct entry *, double seconds);

/* One run of a contender, on the numbers from window * stride on. */
static cudaError_t side_by_side_launch(const struct side_by_side *, const struct entry *,
                                       size_t window, cudaStream_t);

/* ---- is what a contender has written right? Every element, and nothing beyond ---------------- */

#define PIECE ((size_t)4 << 20) /* elements that the host looks at together */

/* ---- the host's verdict, where the device has found a difference ----------------------------- */

/* Verifies the output of one window with verify.h; its first mismatch becomes the text. */
static cudaError_t judge_pieces(const struct side_by_side *s, struct verifier *v, const char *out,
                                void *piece)
{
    size_t size = element_size(element_of_sum(s->data->element));
    for (size_t at = 0; at < s->n; at += PIECE) {
        size_t count = s->n - at < PIECE ? s->n - at : PIECE;
        CUDA_TRY(cudaMemcpy(piece, out + at * size, count * size, cudaMemcpyDeviceToHost));
        verify_piece(v, piece, at, count);
    }
    return cudaSuccess;
}

static int judge(const struct side_by_side *s, struct entry *e, size_t window, struct fault *fault)
{
    const struct data *data = s->data;
    size_t size = element_size(data->element), sum = element_size(element_of_sum(data->element));
    void *in = allocated(malloc(s->n * size)), *piece = allocated(malloc(PIECE * sizeof(double)));
    struct problem problem = {.element = data->element, .in = in, .n = s->n};
    struct verifier verifier;
    cudaError_t error = cudaMemcpy(in, (const char *)data->in + window * s->stride * size,
                                   s->n * size, cudaMemcpyDeviceToHost);
    if (!error) {
        struct facts facts = facts_of(&problem);
        verify_begin(&verifier, &problem, &facts, (double)s->n, 0);
        error = judge_pieces(s, &verifier, (char *)s->out.data + window * s->stride * sum, piece);
    }
    free(in);
    free(piece);
    CUDA_CHECK(fault, error);
    struct verdict verdict = verify_end(&verifier);
    const struct mismatch *first = &verdict.first[0];
    if (!verdict.right)
        snprintf(e->wrong, sizeof e->wrong, "%zu wrong, first [%zu]: %s in place of %s%s%s",
                 verdict.wrong, first->index, first->got, first->want, *verdict.cause ? "; " : "",
                 verdict.cause);
    return 0;
}

/* ---- on the device --------------------------------------------------------------------------- */

/* Ways to copy move bytes; this is the number of whole sums in them. */
static size_t copied_sums(const struct side_by_side *s)
{
    return side_by_side_copied_bytes(s) / element_size(element_of_sum(s->data->element));
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
    if (found.count == 0) return 0;
    if (!contender_copies(&e->contender)) return judge(s, e, window, fault);
    snprintf(e->wrong, sizeof e->wrong, "%llu elements were not copied, the first is %llu",
             found.count, found.first);
    return 0;
}

static int look_at_guards(const struct buffer *buffer, const char *what, struct entry *e,
                          struct fault *fault)
{
    cudaError_t error;
    if (!buffer->base) return 0;
    long where = buffer_damage(buffer, &error);
    CUDA_CHECK(fault, error);
    if (!where) return 0;
    snprintf(e->wrong, sizeof e->wrong, "%s was written %ld byte%s %s", what, labs(where),
             labs(where) == 1 ? "" : "s", where > 0 ? "past its end" : "before its start");
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

/* ---- on the host ----------------------------------------------------------------------------- */

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

/* ---- fingerprints ---------------------------------------------------------------------------- */

static bool is_on_host(const struct entry *e)
{
    return e->contender.step && e->contender.step->on_host;
}

static const struct buffer *output_of(const struct side_by_side *s, const struct entry *e)
{
    return is_on_host(e) ? &e->host_out : &s->out;
}

static struct span numbers_of(const struct side_by_side *s, const struct entry *e)
{
    if (is_on_host(e)) return (struct span){s->data->host_in, s->n * sizeof(float), true};
    size_t used = s->out.bytes / element_size(element_of_sum(s->data->element));
    return (struct span){s->data->in, used * element_size(s->data->element), false};
}

static int take(struct side_by_side *s, const struct entry *e, uint64_t *left, struct fault *fault)
{
    const struct buffer *out = output_of(s, e), *w = &e->workspace;
    size_t end = w->front + w->bytes;
    const struct span spans[LEFTS] = {
        [LEFT_OUT] = {out->base, out->whole, out->on_host},
        [LEFT_BEFORE_WORKSPACE] = {w->base, w->front, false},
        [LEFT_BEHIND_WORKSPACE] = {w->base ? w->base + end : NULL, w->whole - end, false},
        [LEFT_IN] = numbers_of(s, e)};
    return fingerprints(&s->fingerprinter, spans, LEFTS, s->timer.stream, left, fault);
}

/* ---- the whole verification ------------------------------------------------------------------ */

/* Fills the contender's outputs with poison, in the timer's stream. */
static cudaError_t side_by_side_poison(const struct side_by_side *s, const struct entry *e)
{
    return buffer_poison(output_of(s, e), s->timer.stream);
}

static int run_poisoned(struct side_by_side *s, struct entry *e, cudaGraphExec_t graph,
                        struct fault *fault)
{
    CUDA_CHECK(fault, side_by_side_poison(s, e));
    double start = clock_seconds();
    if (graph)
        CUDA_CHECK(fault, cudaGraphLaunch(graph, s->timer.stream));
    else
        CUDA_CHECK(fault, side_by_side_launch(s, e, 0, s->timer.stream));
    entry_note_lead(e, clock_seconds() - start);
    CUDA_CHECK(fault, cudaStreamSynchronize(s->timer.stream));
    return 0;
}

/* Looks at every element of the runs, at the guards and at the input. */
static int look(struct side_by_side *s, struct entry *e, size_t runs, struct fault *fault)
{
    int code = 0;
    if (is_on_host(e)) {
        look_at_host(s, e);
        return look_at_guards(&e->host_out, "the output", e, fault);
    }
    for (size_t w = 0; w < runs && !code && !*e->wrong; w++) code = look_at_window(s, e, w, fault);
    if (!code) code = look_at_guards(&s->out, "the output", e, fault);
    if (!code) code = look_at_guards(&e->workspace, "the workspace", e, fault);
    if (!code) code = look_at_input(s, e, fault);
    return code;
}

/* Ends the look at a contender. What a wrong one may have spoiled is made good for the others. */
static int close_look(struct side_by_side *s, const struct entry *e, struct fault *fault)
{
    if (!*e->wrong) return 0;
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

/* Fills the output with poison and runs a contender, in `graph` or, if that
 * is NULL, once. Then compares every element, and looks at the guards and at the input. Any error
 * is described in entry->wrong. */
static int side_by_side_verify(struct side_by_side *s, struct entry *e, cudaGraphExec_t graph,
                               struct fault *fault)
{
    e->right = false;
    e->wrong[0] = '\0';
    int code = run_poisoned(s, e, graph, fault);
    if (code) return code;
    look_at_errors(e);
    if (!*e->wrong) code = look(s, e, graph ? s->runs : 1, fault);
    if (!code) code = close_look(s, e, fault);
    if (!code && !*e->wrong) code = take(s, e, e->left, fault);
    e->right = !code && !*e->wrong;
    return code;
}

/* Compares the state of memory after a timed run (`in_graph`: a timed graph) with that after the
 * verified one. If the result is wrong, entry->wrong begins with `run`, the name of the run. */
static int side_by_side_check(struct side_by_side *s, struct entry *e, bool in_graph,
                              const char *run, struct fault *fault)
{
    uint64_t left[LEFTS];
    char wrong[sizeof e->wrong];
    look_at_errors(e);
    int code = take(s, e, left, fault);
    if (code || (!*e->wrong && memcmp(left, e->left, sizeof left) == 0)) return code;
    if (!*e->wrong) code = look(s, e, in_graph ? s->runs : 1, fault);
    if (!code) code = close_look(s, e, fault);
    if (code) return code;
    /* Fingerprints may differ although the result is right: equal numbers may have different bits,
     * as 0 and -0 do, and there is memory between the outputs. */
    snprintf(wrong, sizeof wrong, "%s",
             *e->wrong ? e->wrong : "its output is not, bit by bit, that of the verified run");
    snprintf(e->wrong, sizeof e->wrong, "%.60s is wrong: %.300s", run, wrong);
    e->right = false;
    return 0;
}

/* ---- side by side ---------------------------------------------------------------------------- */

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
static size_t side_by_side_copied_bytes(const struct side_by_side *s)
{
    return bytes_of(s->n, s->data->element) / 2;
}

/* ---- one run --------------------------------------------------------------------------------- */

static cudaError_t side_by_side_launch(const struct side_by_side *s, const struct entry *e,
                                       size_t window, cudaStream_t stream)
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

static void entry_note_lead(struct entry *e, double seconds)
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

/* ---- rounds ---------------------------------------------------------------------------------- */

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

/* ---- cold ------------------------------------------------------------------------------------ */

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

/* ---- in graphs ------------------------------------------------------------------------------- */

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
