#include "runs.h"

#include "common/step/cuda_check.h"
#include "common/harness/host/parallel.h"
#include "inclusive.h"
#include "common/harness/print/progress.h"
#include "reverse.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Arrays are copied to the host and compared in pieces of this many elements. A piece is at least
 * as long as the distance of two elements that change places (exchange.c). */
#define PIECE ((size_t)4 << 20)

/* --verify sample looks at the first and the last span and one in each stretch between them. */
#define SAMPLE_SPANS 64
#define SAMPLE_SPAN  ((size_t)4096)

static size_t input_bytes(const struct subject *s, size_t n)
{
    return n * element_size(s->element);
}

static size_t piece_bytes(size_t n) { return (n < PIECE ? n : PIECE) * sizeof(double); }

/* ---- memory ---------------------------------------------------------------------------------- */

/* Are there runs on the reversed input? */
static bool reverses(const struct options *options)
{
    return options->verify != VERIFY_NONE && options->reps != 0;
}

bool runs_memory(const struct subject *s, size_t n, bool emulated, size_t *device, size_t *host)
{
    /* All arrays have less than 128 bytes an element; a larger n would overflow. */
    if (n > SIZE_MAX / 128) return false;
    struct needs needs = s->verbs->needs(s, n);
    size_t orders = reverses(s->options) ? ORDERS : 1, results = subject_shifts(s) ? 2 : 1;
    size_t arrays = buffer_room(input_bytes(s, n), 0) + buffer_room(needs.result, 0) * results +
                    buffer_room(needs.workspace, 0) + needs.own;
    size_t references = s->step->reference ? orders * (n + 1) * sizeof(double) : 0;
    /* Otherwise the result is judged as a whole, beside the one that is expected. */
    if (!s->verbs->sums) references += 2 * needs.result;
    *host = needs.own + orders * input_bytes(s, n) + piece_bytes(n) + references;
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
    r->result.buffer = subject_shifts(s) ? &r->shifted : &r->out;
    if (needs.workspace && s->step->clear_workspace)
        CUDA_CHECK(fault, cudaMemset(r->workspace.data, 0, needs.workspace));
    CUDA_CHECK(fault, buffer_upload(&r->in, 0, r->input->data, r->in.bytes));
    return 0;
}

static int make_reference(struct runs *r, enum order order, struct fault *fault)
{
    const struct problem *problem = &r->problems[order];
    size_t n = problem->n;
    if (!r->subject->step->reference) return 0;
    double *reference = r->references[order] = malloc((n + 1) * sizeof *reference);
    if (!reference)
        return fail(fault, EXIT_USAGE, "the reference for %zu elements does not fit into memory.",
                    n);
    r->subject->step->reference(reference, problem->in, n, r->subject->options->variant);
    long double last; /* one more: what --inclusive puts at the end */
    element_widen(problem->element, problem->in, n - 1, 1, &last);
    reference[n] = reference[n - 1] + (double)last;
    r->problems[order].reference = reference;
    return 0;
}

/* The numbers to be summed in this order, which is the order of the numbers at `in`. */
static int state_problem(struct runs *r, enum order order, const void *in, struct fault *fault)
{
    size_t n = r->input->n;
    r->problems[order] = (struct problem){
        .element = r->subject->element, .in = in, .n = n, .inclusive = r->subject->step->inclusive};
    r->all_facts[order] = (struct facts){.exact = true};
    if (!r->subject->verbs->sums) return 0;
    int code = make_reference(r, order, fault);
    if (code) return code;
    progress_begin("looking at the input", n);
    r->all_facts[order] = facts_of(&r->problems[order]);
    progress_end();
    return facts_check(&r->all_facts[order], r->subject->element, fault);
}

static int make_piece(struct runs *r, struct fault *fault)
{
    size_t bytes = piece_bytes(r->input->n);
    /* A GPU copies to pinned memory several times as fast. */
    if (!r->subject->step->on_host)
        CUDA_CHECK(fault, cudaMallocHost(&r->piece, bytes));
    else
        r->piece = malloc(bytes);
    return r->piece ? 0 : fail(fault, EXIT_USAGE, "no memory left to verify the result.");
}

static int state_first_problem(struct runs *r, struct fault *fault)
{
    int code = make_piece(r, fault);
    if (code) return code;
    code = state_problem(r, AS_GIVEN, r->input->data, fault);
    r->problem = r->problems[AS_GIVEN];
    r->facts = r->all_facts[AS_GIVEN];
    return code;
}

int runs_open(struct runs *r, const struct subject *subject, const struct input *input,
              bool emulated, struct fault *fault)
{
    bool on_host = subject->step->on_host;
    *r = (struct runs){.subject = subject, .input = input, .emulated = emulated};
    int code = state_first_problem(r, fault);
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
    for (int order = 0; order < ORDERS; order++) {
        free(r->references[order]);
        r->references[order] = NULL;
    }
    free(r->reversed);
    result_free(&r->result);
    if (!r->subject->step->on_host)
        cudaFreeHost(r->piece);
    else
        free(r->piece);
    r->reversed = r->piece = NULL;
}

void outcome_free(struct outcome *outcome) { counters_free(&outcome->counters); }

/* ---- the order of the input ------------------------------------------------------------------ */

int runs_reverse(struct runs *r, struct fault *fault)
{
    size_t n = r->input->n, size = element_size(r->subject->element);
    r->reversed = malloc(n * size);
    if (!r->reversed)
        return fail(fault, EXIT_USAGE, "%zu elements in reverse order do not fit into memory.", n);
    reverse_on_host(r->reversed, r->input->data, size, n);
    return state_problem(r, REVERSED, r->reversed, fault);
}

cudaError_t runs_set_order(struct runs *r, enum order order, cudaStream_t stream)
{
    if (r->order == order) return cudaSuccess;
    r->order = order;
    r->problem = r->problems[order];
    r->facts = r->all_facts[order];
    if (r->subject->step->on_host || r->emulated)
        return buffer_upload(&r->in, 0, r->problem.in, r->in.bytes);
    return reverse_on_device(r->in.data, element_size(r->subject->element), r->problem.n, stream);
}

int runs_wait(const struct runs *r, struct fault *fault)
{
    if (!r->subject->step->on_host) CUDA_CHECK(fault, cudaStreamSynchronize(r->timer.stream));
    return 0;
}

/* ---- is it right? ---------------------------------------------------------------------------- */

static int shift_to_inclusive(struct runs *r, struct fault *fault)
{
    size_t n = r->input->n;
    const unsigned char *in = r->in.data;
    const void *last = in + (n - 1) * element_size(r->subject->element);
    CUDA_CHECK(fault, buffer_poison(&r->shifted, r->timer.stream));
    if (r->subject->step->on_host)
        inclusive_from_exclusive_host(r->subject->element, r->shifted.data, r->out.data, last, n);
    else
        CUDA_CHECK(fault, inclusive_from_exclusive(r->subject->element, r->shifted.data,
                                                   r->out.data, last, n, r->timer.stream));
    return runs_wait(r, fault);
}

/* Walks through n elements: all of them in pieces, or the spans of a sample. */
struct walk {
    size_t n;
    bool sample;
    size_t turn, start, count;
};

static bool walk_on(struct walk *w)
{
    w->start = w->turn ? w->start + w->count : 0;
    if (w->sample && w->n > 2 * SAMPLE_SPANS * SAMPLE_SPAN) {
        if (w->turn == SAMPLE_SPANS) return false;
        size_t stretch = (w->n - SAMPLE_SPAN) / (SAMPLE_SPANS - 1);
        w->start = w->turn * stretch;
        if (w->turn == SAMPLE_SPANS - 1) w->start = w->n - SAMPLE_SPAN;
        w->count = SAMPLE_SPAN;
    } else {
        w->count = w->n - w->start < PIECE ? w->n - w->start : PIECE;
    }
    w->turn++;
    return w->start < w->n;
}

static struct walk walk_through(const struct runs *r)
{
    bool sample = r->subject->options->verify == VERIFY_SAMPLE && !r->whole;
    return (struct walk){.n = r->input->n, .sample = sample};
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
    for (struct walk walk = walk_through(r); !error && walk_on(&walk);) {
        error = buffer_download(result, walk.start * size, r->piece, walk.count * size);
        if (!error) verify_piece(&verifier, r->piece, walk.start, walk.count);
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
    progress_begin("verifying", 0);
    int code = s->verbs->judge(s, &r->problem, &r->result, verdict, fault);
    progress_end();
    return code;
}

static int check_guards(const struct buffer *buffer, const char *name, size_t element_bytes,
                        char *damage, size_t size, struct fault *fault)
{
    if (!buffer->base || *damage) return 0;
    cudaError_t error;
    long where = buffer_damage(buffer, &error);
    CUDA_CHECK(fault, error);
    if (where == 0) return 0;
    size_t bytes = (size_t)labs(where);
    snprintf(damage, size, "%s was written %zu element%s %s", name,
             (bytes + element_bytes - 1) / element_bytes, bytes > element_bytes ? "s" : "",
             where > 0 ? "past its end" : "before its start");
    return 0;
}

/* An array that may differ from what it was. */
struct comparison {
    const unsigned char *was, *is;
    size_t bytes;
    atomic_bool differs;
};

#define COMPARED ((size_t)1 << 16) /* bytes that one thread compares at a time */

static void compare_bytes(void *context, size_t k)
{
    struct comparison *c = context;
    size_t at = k * COMPARED, bytes = c->bytes - at < COMPARED ? c->bytes - at : COMPARED;
    if (memcmp(c->was + at, c->is + at, bytes) != 0) c->differs = true;
}

static bool are_same(const unsigned char *was, const unsigned char *is, size_t bytes)
{
    struct comparison c = {.was = was, .is = is, .bytes = bytes};
    parallel_for((bytes + COMPARED - 1) / COMPARED, compare_bytes, &c);
    return !c.differs;
}

static int check_input(struct runs *r, char *damage, size_t size, struct fault *fault)
{
    size_t width = element_size(r->subject->element);
    if (*damage) return 0;
    for (struct walk walk = walk_through(r); walk_on(&walk);) {
        const unsigned char *was = (const unsigned char *)r->problem.in + walk.start * width;
        const unsigned char *is = r->piece;
        CUDA_CHECK(fault,
                   buffer_download(&r->in, walk.start * width, r->piece, walk.count * width));
        if (are_same(was, is, walk.count * width)) continue;
        size_t i = 0;
        while (memcmp(was + i * width, is + i * width, width) == 0) i++;
        snprintf(damage, size, "the input was modified, first at element %zu", walk.start + i);
        return 0;
    }
    return 0;
}

static int check_damage(struct runs *r, char *damage, size_t size, struct fault *fault)
{
    size_t in = element_size(r->subject->element);
    size_t out = element_size(element_of_sum(r->subject->element));
    int code = check_guards(&r->out, "the output", out, damage, size, fault);
    if (!code) code = check_guards(&r->in, "the input", in, damage, size, fault);
    if (!code) code = check_guards(&r->workspace, "the workspace", out, damage, size, fault);
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

int runs_verify(struct runs *r, struct outcome *o, struct fault *fault)
{
    bool inclusive = subject_shifts(r->subject) && r->order == AS_GIVEN;
    int code;
    o->verified = r->subject->options->verify != VERIFY_NONE;
    if (inclusive) {
        code = shift_to_inclusive(r, fault);
        if (code) return code;
    }
    if (!o->verified) return 0;
    code = verify_result(r, inclusive, o, fault);
    if (!code) code = check_damage(r, o->damage, sizeof o->damage, fault);
    if (code) return code;
    o->right = o->verdict.right && !*o->damage;
    return 0;
}
