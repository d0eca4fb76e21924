/* runs_do.c — the runs of a bench: the first one, the one that tries the contract, and the timed
 * ones, with what lies between them. */
#include "runs.h"

#include "common/step/cuda_check.h"
#include "common/harness/print/print.h"

#include <stdio.h>
#include <string.h>

/* ---- one run --------------------------------------------------------------------------------- */

/* Fills the output with poison, or in place with the input. */
static cudaError_t fill_output(const struct runs *r, cudaStream_t stream)
{
    if (!r->subject->options->in_place) return buffer_poison(&r->out, stream);
    if (!r->subject->step->on_host)
        return cudaMemcpyAsync(r->out.data, r->in.data, r->in.bytes, cudaMemcpyDeviceToDevice,
                               stream);
    memcpy(r->out.data, r->in.data, r->in.bytes);
    return cudaSuccess;
}

/* Fills the workspace with poison, unless the step keeps data there. */
static cudaError_t fill_workspace(const struct runs *r, cudaStream_t stream)
{
    if (!r->workspace.base || r->subject->step->clear_workspace) return cudaSuccess;
    return buffer_poison(&r->workspace, stream);
}

/* Prepares memory before a run, so that nothing from an earlier run is of use. */
static cudaError_t fill(const struct runs *r, cudaStream_t stream)
{
    CUDA_TRY(fill_output(r, stream));
    return fill_workspace(r, stream);
}

/* Earlier errors are not the scan's, and would stop one that asks for errors between launches. */
static void forget_errors(const struct runs *r)
{
    if (!r->subject->step->on_host) (void)cudaGetLastError();
}

static cudaError_t scan(void *context, cudaStream_t stream)
{
    const struct runs *r = context;
    const struct call call = {.out = r->out.data,
                              .in = r->subject->options->in_place ? r->out.data : r->in.data,
                              .n = r->input->n,
                              .workspace = r->workspace.data,
                              .stream = stream};
    forget_errors(r);
    return r->subject->verbs->launch(r->subject, &call);
}

/* The work of a call has ended. Also finds a launch that has failed without an error from the
 * scan. */
static int end_call(const struct runs *r, int code, struct fault *fault)
{
    const struct subject *s = r->subject;
    cudaError_t error = s->step->on_host ? cudaSuccess : cudaGetLastError();
    if (!code && error)
        code = cuda_fault(fault, error, "a call in the scan, whose error the scan did not return,");
    return s->verbs->ended ? s->verbs->ended(s, code, fault) : code;
}

/* Can a call be captured? */
static bool is_captured(const struct subject *s)
{
    return !s->step->on_host && (!s->ranks || s->ranks->captured);
}

static int first_run(struct runs *r, struct outcome *o, double *seconds, struct fault *fault)
{
    CUDA_CHECK(fault, fill(r, r->timer.stream));
    int code = runs_wait(r, fault);
    if (code) return code;
    o->counted = r->emulated && counters_begin();
    double start = clock_seconds();
    cudaError_t error = scan(r, r->timer.stream);
    code = error ? cuda_fault(fault, error, "the scan") : runs_wait(r, fault);
    *seconds = clock_seconds() - start;
    if (o->counted) counters_end(&o->counters);
    return end_call(r, code, fault);
}

/* ---- the state of memory after a run --------------------------------------------------------- */

static struct span span_of(const struct buffer *buffer, size_t from, size_t to)
{
    if (from == to) return (struct span){0};
    return (struct span){buffer->base + from, to - from, buffer->on_host};
}

static int take_marks(struct runs *r, uint64_t *marks, struct fault *fault)
{
    const struct buffer *w = &r->workspace;
    const struct span spans[MARKS] = {[MARK_OUT] = span_of(&r->out, 0, r->out.whole),
                                      [MARK_IN] = span_of(&r->in, 0, r->in.whole),
                                      [MARK_BEFORE_WORKSPACE] = span_of(w, 0, w->front),
                                      [MARK_BEHIND_WORKSPACE] =
                                          span_of(w, w->front + w->bytes, w->whole)};
    return fingerprints(&r->fingerprinter, spans, MARKS, r->timer.stream, marks, fault);
}

/* Verifies a run other than the first if it has left other memory than the first. (It may still be
 * right if sums are rounded.) If it is wrong, the outcome says which run it was. */
static int check_later(struct runs *r, struct outcome *o, const char *run, struct fault *fault)
{
    uint64_t marks[MARKS];
    int code = take_marks(r, marks, fault);
    if (code) return code;
    bool differs = memcmp(marks, r->marks, sizeof marks) != 0;
    if (ranks_largest(r->subject->ranks, differs) == 0) return 0;
    code = runs_verify(r, o, fault);
    if (!code && !o->right) snprintf(o->run, sizeof o->run, "%s", run);
    return code;
}

/* ---- the run that tries the contract --------------------------------------------------------- */

/* Work that the call has put into other streams must not run beside the graph, and what it wrote is
 * poison again. */
static int run_graph(struct runs *r, cudaGraphExec_t graph, struct fault *fault)
{
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    CUDA_CHECK(fault, fill(r, r->timer.stream));
    CUDA_CHECK(fault, cudaGraphLaunch(graph, r->timer.stream));
    return end_call(r, runs_wait(r, fault), fault);
}

static int run_contract(struct runs *r, struct outcome *o, struct fault *fault)
{
    cudaGraphExec_t graph;
    if (!is_captured(r->subject)) return 0;
    int code = contract_capture(scan, r, r->timer.stream, &graph, o->damage, fault);
    if (!code) code = ranks_share(r->subject->ranks, o->damage, sizeof o->damage, fault);
    o->right = !*o->damage;
    if (code || *o->damage) return code;
    code = run_graph(r, graph, fault);
    cudaGraphExecDestroy(graph);
    return code ? code : check_later(r, o, "the run of the captured graph", fault);
}

/* ---- timed runs ------------------------------------------------------------------------------ */

/* Run number `run` of `reps`, counted from 1, is the next one, or the one that has just ended. */
struct timed {
    struct runs *runs;
    struct outcome *outcome;
    int run, reps;
};

static cudaError_t prepare_timed(void *context, cudaStream_t stream)
{
    return fill(((struct timed *)context)->runs, stream);
}

static cudaError_t scan_timed(void *context, cudaStream_t stream)
{
    return scan(((struct timed *)context)->runs, stream);
}

/* EXIT_WRONG: the run is wrong, and the outcome says why. */
static int check_timed(void *context, struct fault *fault)
{
    struct timed *t = context;
    char run[sizeof t->outcome->run];
    snprintf(run, sizeof run, "timed run %d of %d", t->run++, t->reps);
    int code = end_call(t->runs, 0, fault);
    if (code || !t->outcome->verified) return code;
    code = check_later(t->runs, t->outcome, run, fault);
    return code || t->outcome->right ? code : EXIT_WRONG;
}

/* The first aligned address, even with --offset: the roof belongs to the device, not to the
 * buffer. */
static size_t misalignment(const struct buffer *buffer)
{
    return -(uintptr_t)buffer->data % ROOF_ALIGNMENT;
}

/* Copies the input over the output, which is filled again before the next run. */
static int measure_roof(struct runs *r, struct outcome *o, int reps, struct fault *fault)
{
    size_t to = misalignment(&r->out), from = misalignment(&r->in);
    if (r->out.bytes <= to || r->in.bytes <= from) return 0;
    size_t bytes = r->out.bytes - to;
    if (r->in.bytes - from < bytes) bytes = r->in.bytes - from;
    int code = roof_measure(&r->timer, (char *)r->out.data + to, (const char *)r->in.data + from,
                            bytes, reps, &o->roof, fault);
    o->roofed = !code;
    return code;
}

static int measure(struct runs *r, struct outcome *o, int reps, struct fault *fault)
{
    const struct ranks *ranks = r->subject->ranks;
    struct timed timed = {r, o, 1, reps};
    int code = 0;
    /* The roof is that of one device. */
    if (!r->emulated && !r->subject->step->on_host && (!ranks || ranks->count == 1))
        code = measure_roof(r, o, reps, fault);
    if (!code)
        code = timer_run_warm(&r->timer, prepare_timed, scan_timed, check_timed, &timed, reps,
                              &o->timing, fault);
    if (code == EXIT_WRONG) return 0;
    double *const times[] = {&o->timing.median, &o->timing.lower, &o->timing.upper,
                             &o->timing.least};
    for (size_t i = 0; i < sizeof times / sizeof *times && !code; i++)
        *times[i] = ranks_largest(ranks, *times[i]); /* of the slowest rank */
    /* The shifted result, which is written to --output, is verified as well. */
    if (!code && r->shifted.base) code = runs_verify(r, o, fault);
    if (!code && !o->right) snprintf(o->run, sizeof o->run, "the last timed run");
    return code;
}

/* ---- everything ------------------------------------------------------------------------------ */

/* What there is to say of the first run. The traffic may depend on the result, so it is that of a
 * right one; of a scan it does not. */
static void describe(const struct runs *r, struct outcome *o)
{
    const struct subject *s = r->subject;
    struct description *d = &o->description;
    d->launches = &o->launches;
    if (s->verbs->describe) s->verbs->describe(s, o->n, d);
    if (d->n) o->n = d->n;
    if (s->verbs->sums || (o->right && o->verified)) return;
    d->least_bytes = d->moved_bytes = 0;
    *d->result = '\0';
}

int runs_do(struct runs *r, struct outcome *o, struct fault *fault)
{
    *o = (struct outcome){.n = r->input->n, .right = true};
    if (is_captured(r->subject)) o->launches = launches_of(scan, r);
    double seconds = 0;
    int code = first_run(r, o, &seconds, fault);
    if (!code) code = runs_verify(r, o, fault);
    if (!code) describe(r, o);
    /* A trace has only one run. */
    int reps = r->subject->options->trace ? 0 : r->subject->options->reps;
    if (!code && reps == REPS_DEFAULT)
        reps = timing_default_reps(r->emulated, ranks_largest(r->subject->ranks, seconds));
    if (!code && o->right && o->verified && reps) code = take_marks(r, r->marks, fault);
    if (!code && o->right && o->verified && reps) code = run_contract(r, o, fault);
    /* A wrong result's time means nothing. */
    if (!code && o->right && reps) code = measure(r, o, reps, fault);
    if (code) outcome_free(o);
    return code;
}
