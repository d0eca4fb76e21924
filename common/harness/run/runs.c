/* runs.c — runs one subject on one input: the first run, the one that tries the contract, and the
 * timed ones, with what lies between them. */
#include "runs.h"
#include "common/harness/input/input.h"
#include "common/harness/print/print.h"
#include "common/step/cuda_check.h"
#include "common/step/element.h"
#include "common/step/options.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- result ---------------------------------------------------------------------------------- */

/* Copies `bytes` bytes of the result, from byte `start` on, to the host. */
static int result_read(const struct runs *r, size_t start, void *to, size_t bytes,
                       struct fault *fault)
{
    CUDA_CHECK(fault, buffer_download(r->result, start, to, bytes));
    return 0;
}

/* Copies all of it. */
static int result_whole(struct runs *r, struct fault *fault)
{
    size_t bytes = r->result->bytes;
    if (!r->whole) r->whole = allocated(malloc(bytes + !bytes));
    return result_read(r, 0, r->whole, bytes, fault);
}

/* ---- scan verbs ------------------------------------------------------------------------------ */

static int plan(const struct subject *s, struct input *input, struct fault *fault)
{
    (void)fault;
    *input = (struct input){.element = s->element, .n = s->options->n};
    return 0;
}

static int read_file(const struct subject *s, struct input *input, struct fault *fault)
{
    const struct options *o = s->options;
    int code = input_read(input, s->element, o->input, s->step->max_n, fault);
    if (code) return code;
    char where[PATH_MAX + 40];
    snprintf(where, sizeof where, "the length of %s", strcmp(o->input, "-") ? o->input : "stdin");
    code = options_check_n(s->step, input->n, where, fault);
    if (code) input_free(input);
    return code;
}

static int input(const struct subject *s, struct input *input, struct fault *fault)
{
    const struct options *o = s->options;
    if (o->input) return read_file(s, input, fault);
    return input_generate(input, s->element, o->n, o->real ? RANDOM_REALS : RANDOM_INTEGERS,
                          o->seed, fault);
}

static struct needs needs(const struct subject *s, size_t n)
{
    const struct step *step = s->step;
    size_t size = element_size(element_of_sum(s->element));
    return (struct needs){.result = n * size,
                          .result_element = size,
                          .workspace =
                              step->workspace ? step->workspace(n, s->options->variant) : 0};
}

static cudaError_t launch(const struct subject *s, const struct call *c)
{
    return s->step->scan(c->out, c->in, c->n, s->options->variant, c->workspace, c->stream);
}

/* Each element is read once and written once. */
static void describe(const struct subject *s, size_t n, struct description *d)
{
    size_t sum = element_size(element_of_sum(s->element));
    d->least_bytes = (double)n * (double)(element_size(s->element) + sum);
}

const struct verbs scan_verbs = {
    .plan = plan,
    .input = input,
    .needs = needs,
    .launch = launch,
    .describe = describe,
    .sums = true,
};

void subject_open(struct subject *s, const struct step *step, const struct options *options)
{
    *s = (struct subject){.step = step,
                          .options = options,
                          .verbs = step->verbs ? step->verbs : &scan_verbs,
                          .element = step->element};
    if (s->verbs->open) s->self = allocated(s->verbs->open());
}

void subject_close(struct subject *s)
{
    if (s->verbs->close) s->verbs->close(s->self);
    s->self = NULL;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

int ranks_agree(const struct ranks *r, int code, struct fault *fault)
{
    struct word word = {.number = 0};
    if (!r) return code;
    if (code) word.fault = *fault, word.fault.code = code;
    r->meet(r, &word);
    if (word.fault.code) *fault = word.fault;
    return word.fault.code;
}

double ranks_largest(const struct ranks *r, double number)
{
    struct word word = {.number = number};
    if (r) r->meet(r, &word);
    return word.number;
}

/* A rank's text, if it is not "", replaces those of the ranks behind it. Returns as ranks_agree. */
static int ranks_share(const struct ranks *r, char *text, size_t size, struct fault *fault)
{
    struct word word = {.number = 0};
    if (!r) return 0;
    snprintf(word.fault.text, sizeof word.fault.text, "%s", text);
    r->meet(r, &word);
    if (word.fault.code)
        *fault = word.fault;
    else
        snprintf(text, size, "%.*s", (int)size - 1, word.fault.text);
    return word.fault.code;
}

bool subject_shifts(const struct subject *s) { return s->options->inclusive && s->verbs->sums; }

/* ---- runs ------------------------------------------------------------------------------------ */

/* Arrays are copied to the host and compared in pieces of this many elements. */
#define PIECE ((size_t)4 << 20)

static size_t input_bytes(const struct subject *s, size_t n)
{
    return n * element_size(s->element);
}

static size_t piece_bytes(size_t n) { return (n < PIECE ? n : PIECE) * sizeof(double); }

/* ---- memory ---------------------------------------------------------------------------------- */

bool runs_memory(const struct subject *s, size_t n, bool emulated, size_t *device, size_t *host)
{
    /* All arrays have less than 128 bytes an element; a larger n would overflow. */
    if (n > SIZE_MAX / 128) return false;
    struct needs needs = s->verbs->needs(s, n);
    size_t results = subject_shifts(s) ? 2 : 1;
    size_t arrays = buffer_room(input_bytes(s, n), 0) + buffer_room(needs.result, 0) * results +
                    buffer_room(needs.workspace, 0) + needs.own;
    size_t references = s->step->reference ? (n + 1) * sizeof(double) : 0;
    /* Otherwise the result is judged as a whole, beside the one that is expected. */
    if (!s->verbs->sums) references += 2 * needs.result;
    *host = needs.own + input_bytes(s, n) + piece_bytes(n) + references;
    if (s->step->on_host || emulated) *host += arrays;
    *device = s->step->on_host ? 0 : arrays;
    return true;
}

/* ---- open and close -------------------------------------------------------------------------- */

static int make_buffers(struct runs *r, struct fault *fault)
{
    const struct subject *s = r->subject;
    size_t n = r->input->n;
    struct needs needs = s->verbs->needs(s, n);
    size_t in_offset = s->options->offset * element_size(s->element);
    size_t out_offset = s->options->offset * needs.result_element;
    bool on_host = s->step->on_host;
    int code = buffer_make(&r->in, input_bytes(s, n), in_offset, on_host, "the input", fault);
    if (!code) code = buffer_make(&r->out, needs.result, out_offset, on_host, "the output", fault);
    if (!code && needs.workspace)
        code = buffer_make(&r->workspace, needs.workspace, 0, on_host, "the workspace", fault);
    if (!code && subject_shifts(s))
        code = buffer_make(&r->shifted, needs.result, out_offset, on_host, "the inclusive result",
                           fault);
    if (code) return code;
    r->result = subject_shifts(s) ? &r->shifted : &r->out;
    if (needs.workspace && s->step->clear_workspace)
        CUDA_CHECK(fault, cudaMemset(r->workspace.data, 0, needs.workspace));
    CUDA_CHECK(fault, buffer_upload(&r->in, 0, r->input->data, r->in.bytes));
    return 0;
}

static void make_reference(struct runs *r)
{
    const struct problem *problem = &r->problem;
    size_t n = problem->n;
    if (!r->subject->step->reference) return;
    double *reference = r->reference = allocated(malloc((n + 1) * sizeof *reference));
    r->subject->step->reference(reference, problem->in, n, r->subject->options->variant);
    long double last; /* one more: what --inclusive puts at the end */
    element_widen(problem->element, problem->in, n - 1, 1, &last);
    reference[n] = reference[n - 1] + (double)last;
    r->problem.reference = reference;
}

static int state_problem(struct runs *r, struct fault *fault)
{
    size_t n = r->input->n;
    r->problem = (struct problem){.element = r->subject->element,
                                  .in = r->input->data,
                                  .n = n,
                                  .inclusive = r->subject->step->inclusive};
    r->facts = (struct facts){.exact = true};
    if (!r->subject->verbs->sums) return 0;
    make_reference(r);
    progress_begin("looking at the input", n);
    r->facts = facts_of(&r->problem);
    progress_end();
    return facts_check(&r->facts, r->subject->element, fault);
}

static int make_piece(struct runs *r, struct fault *fault)
{
    size_t bytes = piece_bytes(r->input->n);
    /* A GPU copies to pinned memory several times as fast. */
    if (!r->subject->step->on_host)
        CUDA_CHECK(fault, cudaMallocHost(&r->piece, bytes));
    else
        r->piece = allocated(malloc(bytes));
    return 0;
}

int runs_open(struct runs *r, const struct subject *subject, const struct input *input,
              bool emulated, struct fault *fault)
{
    bool on_host = subject->step->on_host;
    *r = (struct runs){.subject = subject, .input = input, .emulated = emulated};
    int code = make_piece(r, fault);
    if (!code) code = state_problem(r, fault);
    if (!code) code = make_buffers(r, fault);
    if (!code) code = fingerprinter_open(&r->fingerprinter, on_host, fault);
    if (!code) code = timer_open(&r->timer, on_host, fault);
    if (code) runs_close(r);
    return code;
}

void runs_close(struct runs *r)
{
    timer_close(&r->timer);
    fingerprinter_close(&r->fingerprinter);
    buffer_free(&r->in);
    buffer_free(&r->out);
    buffer_free(&r->workspace);
    buffer_free(&r->shifted);
    free(r->reference);
    free(r->whole);
    r->whole = NULL;
    if (!r->subject->step->on_host)
        cudaFreeHost(r->piece);
    else
        free(r->piece);
    r->reference = r->piece = NULL;
}

void outcome_free(struct outcome *outcome) { counters_free(&outcome->counters); }

static int runs_wait(const struct runs *r, struct fault *fault)
{
    if (!r->subject->step->on_host) CUDA_CHECK(fault, cudaStreamSynchronize(r->timer.stream));
    return 0;
}

/* ---- is it right? ---------------------------------------------------------------------------- */

/* Adds the last element to the last sum. */
static void add_last(enum element element, void *sum, const void *last)
{
#define ADD(name, type, sum_type)                                                                  \
    case name: {                                                                                   \
        sum_type so_far;                                                                           \
        type x;                                                                                    \
        memcpy(&so_far, sum, sizeof so_far);                                                       \
        memcpy(&x, last, sizeof x);                                                                \
        so_far += (sum_type)x;                                                                     \
        memcpy(sum, &so_far, sizeof so_far);                                                       \
        break;                                                                                     \
    }
    switch (element) {
        ELEMENT_TYPES(ADD)
    }
}

/* As both documents describe it: the result is shifted left by one element, and the last place gets
 * the sum of all elements. */
static int shift_to_inclusive(struct runs *r, struct fault *fault)
{
    enum element element = r->subject->element;
    size_t width = element_size(element), size = element_size(element_of_sum(element));
    size_t before = (r->input->n - 1) * size;
    const char *from = (const char *)r->out.data + size;
    unsigned char sum[sizeof(double)], last[sizeof(double)];
    CUDA_CHECK(fault, buffer_poison(&r->shifted, r->timer.stream));
    if (r->subject->step->on_host)
        memcpy(r->shifted.data, from, before);
    else
        CUDA_CHECK(fault, cudaMemcpyAsync(r->shifted.data, from, before, cudaMemcpyDeviceToDevice,
                                          r->timer.stream));
    int code = runs_wait(r, fault);
    if (code) return code;
    CUDA_CHECK(fault, buffer_download(&r->out, before, sum, size));
    CUDA_CHECK(fault, buffer_download(&r->in, r->in.bytes - width, last, width));
    add_last(element, sum, last);
    CUDA_CHECK(fault, buffer_upload(&r->shifted, before, sum, size));
    return 0;
}

/* Elements per block if these are threads times a power of two; otherwise 0. */
static size_t tile_of(const struct launch *largest, size_t n)
{
    if (!largest || largest->grid < 2) return 0;
    for (size_t each = 1; each <= 64; each *= 2) {
        size_t tile = largest->block * each;
        if ((n + tile - 1) / tile == largest->grid) return tile;
    }
    return 0;
}

static int compare(struct runs *r, const struct buffer *result, bool inclusive,
                   const struct launch *largest, struct verdict *verdict, struct fault *fault)
{
    struct problem problem = r->problem;
    size_t n = problem.n, size = element_size(element_of_sum(problem.element));
    double depth = step_depth(r->subject->step, n, r->subject->options->variant);
    if (inclusive && !problem.inclusive) depth++; /* the last element is added at the end */
    problem.any_order = r->subject->step->any_order && r->subject->options->input;
    if (problem.reference && inclusive && !problem.inclusive) problem.reference++;
    problem.inclusive = inclusive;
    struct verifier verifier;
    verify_begin(&verifier, &problem, &r->facts, depth, tile_of(largest, n));
    progress_begin("verifying", n);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < n && !error; i += PIECE) {
        size_t count = n - i < PIECE ? n - i : PIECE;
        error = buffer_download(result, i * size, r->piece, count * size);
        if (!error) verify_piece(&verifier, r->piece, i, count);
    }
    progress_end();
    CUDA_CHECK(fault, error);
    *verdict = verify_end(&verifier);
    return 0;
}

/* A result that is no sum: its subject judges it. */
static int judge(struct runs *r, struct verdict *verdict, struct fault *fault)
{
    const struct subject *s = r->subject;
    *verdict = (struct verdict){.right = true, .exact = true, .checked = r->problem.n};
    int code = result_whole(r, fault);
    if (!code) s->verbs->judge(s, &r->problem, r->whole, verdict);
    return code;
}

static int check_input(struct runs *r, char *damage, size_t size, struct fault *fault)
{
    size_t width = element_size(r->subject->element);
    if (*damage) return 0;
    for (size_t start = 0; start < r->input->n; start += PIECE) {
        size_t left = r->input->n - start, bytes = (left < PIECE ? left : PIECE) * width;
        const unsigned char *was = (const unsigned char *)r->problem.in + start * width;
        const unsigned char *is = r->piece;
        CUDA_CHECK(fault, buffer_download(&r->in, start * width, r->piece, bytes));
        if (memcmp(was, is, bytes) == 0) continue;
        size_t i = 0;
        while (memcmp(was + i * width, is + i * width, width) == 0) i++;
        snprintf(damage, size, "the input was modified, first at element %zu", start + i);
        return 0;
    }
    return 0;
}

static int check_damage(struct runs *r, char *damage, size_t size, struct fault *fault)
{
    size_t in = element_size(r->subject->element);
    size_t out = element_size(element_of_sum(r->subject->element));
    int code = buffer_check(&r->out, "the output", out, damage, size, fault);
    if (!code) code = buffer_check(&r->in, "the input", in, damage, size, fault);
    if (!code) code = buffer_check(&r->workspace, "the workspace", out, damage, size, fault);
    if (!code) code = check_input(r, damage, size, fault);
    return code;
}

/* The verdict on the next result. If the results before it are right, theirs is part of it. */
static void note_verdict(struct outcome *o, struct verdict *verdict)
{
    if (o->verdict.right) verdict_add_earlier(verdict, &o->verdict);
    o->verdict = *verdict;
}

static int verify_result(struct runs *r, bool inclusive, struct outcome *o, struct fault *fault)
{
    struct verdict verdict;
    const struct subject *s = r->subject;
    const struct launch *largest = launches_largest(&o->launches);
    int code = s->verbs->sums
                   ? compare(r, &r->out, s->step->inclusive, largest, &verdict, fault)
                   : judge(r, &verdict, fault);
    if (code) return code;
    note_verdict(o, &verdict);
    if (!inclusive || !verdict.right) return 0;
    code = compare(r, &r->shifted, true, largest, &verdict, fault);
    if (!code) note_verdict(o, &verdict);
    return code;
}

/* Verifies on the host the result of the run that has just ended. The outcome keeps the first error
 * found; while there is no error, its verdict is that of all runs so far. */
static int runs_verify(struct runs *r, struct outcome *o, struct fault *fault)
{
    bool inclusive = subject_shifts(r->subject);
    int code;
    o->verified = r->subject->options->verify != VERIFY_NONE;
    if (inclusive) {
        code = shift_to_inclusive(r, fault);
        if (code) return code;
    }
    if (!o->verified) return 0;
    code = verify_result(r, inclusive, o, fault);
    if (!code) code = check_damage(r, o->damage, sizeof o->damage, fault);
    if (!code) code = ranks_share(r->subject->ranks, o->damage, sizeof o->damage, fault);
    if (code) return code;
    o->right = o->verdict.right && !*o->damage;
    return 0;
}

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
static void describe_first(const struct runs *r, struct outcome *o)
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
    if (!code) describe_first(r, o);
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

/* ---- the result as a file -------------------------------------------------------------------- */

static int write_sums(struct runs *r, struct fault *fault)
{
    enum element element = element_of_sum(r->subject->element);
    size_t n = r->input->n, size = element_size(element);
    struct output output;
    int code = output_begin(&output, r->subject->options->output, element, n, fault);
    for (size_t start = 0; start < n && !code; start += PIECE) {
        size_t count = n - start < PIECE ? n - start : PIECE;
        code = result_read(r, start * size, r->piece, count * size, fault);
        if (code)
            output_abandon(&output);
        else
            code = output_add(&output, r->piece, count, fault);
    }
    return code ? code : output_end(&output, fault);
}

int runs_write(struct runs *r, struct fault *fault)
{
    const struct subject *s = r->subject;
    if (s->verbs->sums) return write_sums(r, fault);
    int code = result_whole(r, fault);
    return code ? code : s->verbs->write(s, r->input, r->whole, fault);
}
