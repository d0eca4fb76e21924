/*
 * bench_run.c — the runs of a bench: the first one, the one that tries the contract, and the timed
 * ones, with what lies between them.
 */
#include "bench.h"

#include "common/harness/application.h"
#include "common/harness/cuda_check.h"
#include "common/harness/report/progress.h"
#include "ended.h"

#include <stdio.h>
#include <string.h>

/* ---- one run --------------------------------------------------------------------------------- */

/* Fills the output with poison, or in place with the input. */
static cudaError_t fill_output(const struct bench *b, cudaStream_t stream)
{
    if (!b->options->in_place) return buffer_poison(&b->out, stream);
    if (!b->step->on_host)
        return cudaMemcpyAsync(b->out.data, b->in.data, b->in.bytes, cudaMemcpyDeviceToDevice,
                               stream);
    memcpy(b->out.data, b->in.data, b->in.bytes);
    return cudaSuccess;
}

/* Fills the workspace with poison, unless the step keeps data there. */
static cudaError_t fill_workspace(const struct bench *b, cudaStream_t stream)
{
    if (!b->workspace.base || b->step->clear_workspace) return cudaSuccess;
    return buffer_poison(&b->workspace, stream);
}

/* Prepares memory before a run, so that nothing from an earlier run is of use. */
static cudaError_t fill(const struct bench *b, cudaStream_t stream)
{
    CUDA_TRY(fill_output(b, stream));
    return fill_workspace(b, stream);
}

/* Earlier errors are not the scan's, and would stop one that asks for errors between launches. */
static void forget_errors(const struct bench *b)
{
    if (!b->step->on_host) (void)cudaGetLastError();
}

static cudaError_t scan(void *context, cudaStream_t stream)
{
    const struct bench *b = context;
    const void *in = b->options->in_place ? b->out.data : b->in.data;
    forget_errors(b);
    cudaError_t error =
        b->step->scan(b->out.data, in, b->input->n, b->options->variant, b->workspace.data, stream);
    ended_check_child();
    return error;
}

/* Finds a launch that has failed without an error from the scan. */
static int check_unreported(const struct bench *b, struct fault *fault)
{
    cudaError_t error = b->step->on_host ? cudaSuccess : cudaGetLastError();
    if (!error) return 0;
    return cuda_fault(fault, error, "a call in the scan, whose error the scan did not return,");
}

static int first_run(struct bench *b, struct outcome *o, double *seconds, struct fault *fault)
{
    CUDA_CHECK(fault, fill(b, b->timer.stream));
    int code = bench_wait(b, fault);
    if (code) return code;
    progress_begin(b->emulated ? "emulating" : "running", 0);
    o->counted = b->emulated && counters_begin();
    double start = clock_seconds();
    cudaError_t error = scan(b, b->timer.stream);
    code = error ? cuda_fault(fault, error, "the scan") : bench_wait(b, fault);
    *seconds = clock_seconds() - start;
    if (o->counted) counters_end(&o->counters);
    progress_end();
    return code ? code : check_unreported(b, fault);
}

/* ---- the state of memory after a run --------------------------------------------------------- */

static struct span span_of(const struct buffer *buffer, size_t from, size_t to)
{
    if (from == to) return (struct span){0};
    return (struct span){buffer->base + from, to - from, buffer->on_host};
}

/* A span of 0 bytes (no workspace, or no guard) gets 0. */
static int take(struct bench *b, const struct span *spans, uint64_t *marks, struct fault *fault)
{
    struct span some[MARKS];
    uint64_t taken[MARKS];
    size_t count = 0;
    for (int i = 0; i < MARKS; i++)
        if (spans[i].bytes) some[count++] = spans[i];
    int code = fingerprints(&b->fingerprinter, some, count, b->timer.stream, taken, fault);
    size_t next = 0;
    for (int i = 0; i < MARKS; i++) marks[i] = spans[i].bytes && !code ? taken[next++] : 0;
    return code;
}

static int take_marks(struct bench *b, uint64_t *marks, struct fault *fault)
{
    const struct buffer *w = &b->workspace;
    const struct span spans[MARKS] = {[MARK_OUT] = span_of(&b->out, 0, b->out.whole),
                                      [MARK_IN] = span_of(&b->in, 0, b->in.whole),
                                      [MARK_BEFORE_WORKSPACE] = span_of(w, 0, w->front),
                                      [MARK_BEHIND_WORKSPACE] =
                                          span_of(w, w->front + w->bytes, w->whole)};
    return take(b, spans, marks, fault);
}

/* Takes fingerprints of all memory that a scan may write or read, with the workspace. */
static int take_everything(struct bench *b, uint64_t *marks, struct fault *fault)
{
    const struct span spans[MARKS] = {[MARK_OUT] = span_of(&b->out, 0, b->out.whole),
                                      [MARK_IN] = span_of(&b->in, 0, b->in.whole),
                                      [MARK_BEFORE_WORKSPACE] =
                                          span_of(&b->workspace, 0, b->workspace.whole)};
    return take(b, spans, marks, fault);
}

/* Verifies a run other than the first. If it is wrong, the outcome says which run it was. */
static int verify_later(struct bench *b, struct outcome *o, const char *run, struct fault *fault)
{
    int code = bench_verify(b, o, fault);
    if (!code && !o->right) snprintf(o->run, sizeof o->run, "%s", run);
    return code;
}

/* ---- the run that tries the contract --------------------------------------------------------- */

/* Captures a call. None of it may run yet, so memory must not change. */
static int capture(struct bench *b, cudaGraphExec_t *graph, char *breach, struct fault *fault)
{
    uint64_t before[MARKS], after[MARKS];
    *graph = NULL;
    int code = take_everything(b, before, fault);
    if (!code) code = contract_capture(scan, b, b->timer.stream, graph, breach, fault);
    if (code || *breach) return code;
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    code = take_everything(b, after, fault);
    if (!code && memcmp(before, after, sizeof before) != 0)
        snprintf(breach, CONTRACT_TEXT,
                 "the scan uses other streams: it wrote while the given one was captured");
    return code;
}

static int run_graph(struct bench *b, cudaGraphExec_t graph, struct fault *fault)
{
    CUDA_CHECK(fault, fill(b, b->timer.stream));
    CUDA_CHECK(fault, cudaGraphLaunch(graph, b->timer.stream));
    return bench_wait(b, fault);
}

static int run_captured(struct bench *b, char *breach, struct fault *fault)
{
    cudaGraphExec_t graph;
    int code = capture(b, &graph, breach, fault);
    if (!code && !*breach) code = run_graph(b, graph, fault);
    if (graph) cudaGraphExecDestroy(graph);
    return code;
}

static void name_kept(struct outcome *o)
{
    snprintf(o->verdict.cause, sizeof o->verdict.cause,
             "this is the result of an earlier call, whose input was another");
}

/* Names the cause if a wrong result equals that of the first run, whose numbers were others. */
static void suspect_memory(struct bench *b, struct outcome *o)
{
    if (o->right || *o->damage || b->marks[REVERSED][MARK_OUT] != b->marks[AS_GIVEN][MARK_OUT])
        return;
    name_kept(o);
}

static int run_contract(struct bench *b, struct outcome *o, struct fault *fault)
{
    static const char on_host[] = "the run on the reversed input",
                      captured[] = "the run of the captured graph, on the reversed input";
    int code = bench_reverse(b, fault);
    if (code) return code;
    CUDA_CHECK(fault, bench_set_order(b, REVERSED, b->timer.stream));
    CUDA_CHECK(fault, fill(b, b->timer.stream));
    code = bench_wait(b, fault);
    if (code) return code;
    if (b->step->on_host)
        CUDA_CHECK(fault, scan(b, NULL));
    else
        code = run_captured(b, o->damage, fault);
    o->right = !*o->damage;
    if (!code && o->right) code = take_marks(b, b->marks[REVERSED], fault);
    if (!code && o->right) code = verify_later(b, o, b->step->on_host ? on_host : captured, fault);
    if (!code) suspect_memory(b, o);
    return code;
}

/* ---- timed runs ------------------------------------------------------------------------------ */

/* Run number `run` of `reps`, counted from 1, is the next one, or the one that has just ended. */
struct timed {
    struct bench *bench;
    struct outcome *outcome;
    int run, reps;
    struct exchange exchange; /* of that run */
};

/* Every second run, counted from the last one, has the input as given, but for the exchange. */
static cudaError_t prepare_timed(void *context, cudaStream_t stream)
{
    struct timed *t = context;
    struct bench *b = t->bench;
    bool reversed = t->outcome->verified && (t->reps - t->run) % 2;
    CUDA_TRY(bench_set_order(b, reversed ? REVERSED : AS_GIVEN, stream));
    if (t->outcome->verified && !b->step->application)
        t->exchange = exchange_choose(&b->problem, &b->facts, (uint64_t)t->run);
    CUDA_TRY(exchange_elements(&t->exchange, &b->problem, &b->in));
    return fill(b, stream);
}

/* After a run: input and output are as if there had been no exchange. */
static cudaError_t take_back_exchange(const struct timed *t)
{
    const struct bench *b = t->bench;
    CUDA_TRY(exchange_elements_back(&t->exchange, &b->problem, &b->in));
    return exchange_sums(&t->exchange, &b->problem, &b->out, false, b->piece);
}

static cudaError_t scan_timed(void *context, cudaStream_t stream)
{
    return scan(((struct timed *)context)->bench, stream);
}

/* Names the cause if the output is that of a run without the exchange. */
static int suspect_kept(struct timed *t, struct fault *fault)
{
    struct bench *b = t->bench;
    const struct exchange *x = &t->exchange;
    uint64_t marks[MARKS];
    if (x->low == x->high || *t->outcome->damage) return 0;
    CUDA_CHECK(fault, exchange_sums(x, &b->problem, &b->out, true, b->piece));
    int code = take_marks(b, marks, fault);
    CUDA_CHECK(fault, exchange_sums(x, &b->problem, &b->out, false, b->piece));
    if (code) return code;
    for (int order = 0; order < ORDERS; order++)
        if (marks[MARK_OUT] == b->marks[order][MARK_OUT]) name_kept(t->outcome);
    return 0;
}

/* A run that differs from the verified one of its order may still be right if sums are rounded. If
 * they are exact, or if the input differs, all elements are compared, because a sample may miss the
 * difference. */
static int look_at_difference(struct timed *t, const uint64_t *marks, const char *run,
                              struct fault *fault)
{
    struct bench *b = t->bench;
    b->whole = b->facts.exact || marks[MARK_IN] != b->marks[b->order][MARK_IN];
    int code = verify_later(b, t->outcome, run, fault);
    b->whole = false;
    if (!code && !t->outcome->right) code = suspect_kept(t, fault);
    return code || t->outcome->right ? code : EXIT_WRONG;
}

/* EXIT_WRONG: the run is wrong, and the outcome says why. */
static int check_timed(void *context, struct fault *fault)
{
    struct timed *t = context;
    struct bench *b = t->bench;
    struct outcome *o = t->outcome;
    uint64_t marks[MARKS];
    char run[sizeof o->run];
    snprintf(run, sizeof run, "timed run %d of %d", t->run++, t->reps);
    int code = check_unreported(b, fault);
    if (code || !o->verified) return code;
    CUDA_CHECK(fault, take_back_exchange(t));
    code = take_marks(b, marks, fault);
    if (code || memcmp(marks, b->marks[b->order], sizeof marks) == 0) return code;
    return look_at_difference(t, marks, run, fault);
}

/* The first aligned address, even with --offset: the roof belongs to the device, not to the
 * buffer. */
static size_t misalignment(const struct buffer *buffer)
{
    return -(uintptr_t)buffer->data % ROOF_ALIGNMENT;
}

/* Copies the input over the output, which is filled again before the next run. */
static int measure_roof(struct bench *b, struct outcome *o, int reps, struct fault *fault)
{
    size_t to = misalignment(&b->out), from = misalignment(&b->in);
    if (b->out.bytes <= to || b->in.bytes <= from) return 0;
    size_t bytes = b->out.bytes - to;
    if (b->in.bytes - from < bytes) bytes = b->in.bytes - from;
    int code = roof_measure(&b->timer, (char *)b->out.data + to, (const char *)b->in.data + from,
                            bytes, reps, &o->roof, fault);
    o->roofed = !code;
    return code;
}

static int measure(struct bench *b, struct outcome *o, int reps, struct fault *fault)
{
    struct timed timed = {b, o, 1, reps, {0}};
    int code = 0;
    if (!b->emulated && !b->step->on_host) code = measure_roof(b, o, reps, fault);
    if (!code)
        code = timer_run_warm(&b->timer, prepare_timed, scan_timed, check_timed, &timed, reps,
                              &o->timing, fault);
    if (code == EXIT_WRONG) return 0;
    /* The shifted result, which is written to --output, is verified as well. */
    if (!code && b->shifted.base) code = verify_later(b, o, "the last timed run", fault);
    return code;
}

/* Captures a call and does not run it. The output stays as it is. Meanwhile its last element and
 * the workspace hold poison, so that a scan that runs in spite of the capture leaves a trace. */
static int capture_only(struct bench *b, char *breach, struct fault *fault)
{
    size_t size = element_size(element_of_sum(b->step->element)), last = b->out.bytes - size;
    unsigned char result[sizeof(double)], poison[sizeof(double)];
    cudaGraphExec_t graph;
    memset(poison, BUFFER_POISON, sizeof poison);
    CUDA_CHECK(fault, fill_workspace(b, b->timer.stream));
    CUDA_CHECK(fault, buffer_download(&b->out, last, result, size));
    CUDA_CHECK(fault, buffer_upload(&b->out, last, poison, size));
    int code = capture(b, &graph, breach, fault);
    if (graph) cudaGraphExecDestroy(graph);
    if (code) return code;
    CUDA_CHECK(fault, buffer_upload(&b->out, last, result, size));
    return 0;
}

/* The contract may be kept in the first calls and broken in later ones. */
static int try_contract_again(struct bench *b, struct outcome *o, struct fault *fault)
{
    if (b->step->on_host) return 0;
    int code = capture_only(b, o->damage, fault);
    if (code || !*o->damage) return code;
    o->right = false;
    o->timing = (struct timing){0};
    snprintf(o->run, sizeof o->run, "the call that is captured after the timed runs");
    return 0;
}

/* ---- everything ------------------------------------------------------------------------------ */

/* Stores what the application reports about its first run. */
static void note_result(const struct bench *b, struct outcome *o)
{
    const struct application *a = b->step->application;
    if (!a || !o->right || !o->verified) return;
    o->least_bytes = a->least_bytes(o->n, b->options->variant);
    o->moved_bytes = a->moved_bytes(o->n, b->options->variant);
    if (a->result) a->result(o->result, sizeof o->result);
}

int bench_run(struct bench *b, struct outcome *o, struct fault *fault)
{
    *o = (struct outcome){.n = b->input->n, .right = true};
    if (b->step->shape) o->shape = b->step->shape(o->n, b->options->variant);
    double seconds = 0;
    int code = first_run(b, o, &seconds, fault);
    if (!code) code = bench_verify(b, o, fault);
    if (!code) note_result(b, o);
    /* A trace has only one run. */
    int reps = b->options->trace ? 0 : b->options->reps;
    if (reps == REPS_DEFAULT) reps = timing_default_reps(b->emulated, seconds);
    if (!code && o->right && o->verified && reps) code = take_marks(b, b->marks[AS_GIVEN], fault);
    if (!code && o->right && o->verified && reps) code = run_contract(b, o, fault);
    /* A wrong result's time means nothing. */
    if (!code && o->right && reps) code = measure(b, o, reps, fault);
    if (!code && o->right && o->verified && reps) code = try_contract_again(b, o, fault);
    if (code) outcome_free(o);
    return code;
}
