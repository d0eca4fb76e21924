#include "runs.h"

#include "common/step/application.h"
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

static size_t input_bytes(const struct step *step, size_t n)
{
    return n * element_size(step->element);
}

static size_t output_bytes(const struct step *step, const struct options *options, size_t n)
{
    if (step->application) return step->application->output_bytes(n, options->variant);
    return n * element_size(element_of_sum(step->element));
}

/* An application's result is judged as a whole. */
static size_t piece_bytes(const struct step *step, const struct options *options, size_t n)
{
    size_t piece = (n < PIECE ? n : PIECE) * sizeof(double);
    size_t result = step->application ? output_bytes(step, options, n) : 0;
    return result > piece ? result : piece;
}

/* Arrays that an application makes with its input. */
static size_t own_bytes(const struct step *step, size_t n)
{
    return step->application && step->application->own_bytes ? step->application->own_bytes(n) : 0;
}

static size_t workspace_bytes(const struct step *step, const struct options *options, size_t n)
{
    return step->workspace ? step->workspace(n, options->variant) : 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Is the result shifted, because --inclusive asks for it? An application obeys by itself. */
static bool shifts(const struct step *step, const struct options *options)
{
    return options->inclusive && !step->application;
}

/* Are there runs on the reversed input? */
static bool reverses(const struct options *options)
{
    return options->verify != VERIFY_NONE && options->reps != 0;
}

bool bench_memory(const struct step *step, const struct options *options, size_t n, bool emulated,
                  size_t *device, size_t *host)
{
    /* All arrays have less than 128 bytes an element; a larger n would overflow. */
    if (n > SIZE_MAX / 128) return false;
    size_t orders = reverses(options) ? ORDERS : 1, results = shifts(step, options) ? 2 : 1;
    size_t arrays = buffer_room(input_bytes(step, n), 0) +
                    buffer_room(output_bytes(step, options, n), 0) * results +
                    buffer_room(workspace_bytes(step, options, n), 0);
    size_t piece = piece_bytes(step, options, n);
    size_t references = step->reference ? orders * (n + 1) * sizeof(double) : 0;
    size_t own = own_bytes(step, n);
    if (step->application) references += output_bytes(step, options, n);
    arrays += own;
    *host = own + orders * input_bytes(step, n) + piece + references;
    if (step->on_host || emulated) *host += arrays;
    *device = step->on_host ? 0 : arrays;
    return true;
}

/* ---- open and close -------------------------------------------------------------------------- */

/* Bytes of an element of the result. */
static size_t result_element(const struct step *step)
{
    if (!step->application) return element_size(element_of_sum(step->element));
    size_t own = step->application->result_element;
    return own ? own : element_size(step->element);
}

static int make_buffers(struct bench *b, struct fault *fault)
{
    const struct step *step = b->step;
    size_t n = b->input->n, workspace = workspace_bytes(step, b->options, n);
    size_t result = output_bytes(step, b->options, n);
    size_t in_offset = b->options->offset * element_size(step->element);
    size_t out_offset = b->options->offset * result_element(step);
    bool on_host = step->on_host;
    int code = buffer_make(&b->in, input_bytes(step, n), in_offset, on_host, "the input", fault);
    if (!code) code = buffer_make(&b->out, result, out_offset, on_host, "the output", fault);
    if (!code && workspace)
        code = buffer_make(&b->workspace, workspace, 0, on_host, "the workspace", fault);
    if (!code && shifts(step, b->options))
        code = buffer_make(&b->shifted, result, out_offset, on_host, "the inclusive result", fault);
    if (code) return code;
    if (workspace && step->clear_workspace)
        CUDA_CHECK(fault, cudaMemset(b->workspace.data, 0, workspace));
    CUDA_CHECK(fault, buffer_upload(&b->in, 0, b->input->data, b->in.bytes));
    return 0;
}

static int make_reference(struct bench *b, enum order order, struct fault *fault)
{
    const struct problem *problem = &b->problems[order];
    size_t n = problem->n;
    if (!b->step->reference) return 0;
    double *reference = b->references[order] = malloc((n + 1) * sizeof *reference);
    if (!reference)
        return fail(fault, EXIT_USAGE, "the reference for %zu elements does not fit into memory.",
                    n);
    b->step->reference(reference, problem->in, n, b->options->variant);
    long double last; /* one more: what --inclusive puts at the end */
    element_widen(problem->element, problem->in, n - 1, 1, &last);
    reference[n] = reference[n - 1] + (double)last;
    b->problems[order].reference = reference;
    return 0;
}

/* The numbers to be summed in this order, which is the order of the numbers at `in`. */
static int state_problem(struct bench *b, enum order order, const void *in, struct fault *fault)
{
    size_t n = b->input->n;
    b->problems[order] = (struct problem){
        .element = b->step->element, .in = in, .n = n, .inclusive = b->step->inclusive};
    b->all_facts[order] = (struct facts){.exact = true};
    if (b->step->application) return 0;
    int code = make_reference(b, order, fault);
    if (code) return code;
    progress_begin("looking at the input", n);
    b->all_facts[order] = facts_of(&b->problems[order]);
    progress_end();
    return facts_check(&b->all_facts[order], b->step->element, fault);
}

/* Is the piece in pinned memory? A GPU copies there several times as fast. That of an application
 * is as large as its result, which would take long to pin. */
static bool is_pinned(const struct bench *b) { return !b->step->on_host && !b->step->application; }

static int make_piece(struct bench *b, struct fault *fault)
{
    size_t bytes = piece_bytes(b->step, b->options, b->input->n);
    if (is_pinned(b))
        CUDA_CHECK(fault, cudaMallocHost(&b->piece, bytes));
    else
        b->piece = malloc(bytes);
    return b->piece ? 0 : fail(fault, EXIT_USAGE, "no memory left to verify the result.");
}

static int state_first_problem(struct bench *b, struct fault *fault)
{
    int code = make_piece(b, fault);
    if (code) return code;
    code = state_problem(b, AS_GIVEN, b->input->data, fault);
    b->problem = b->problems[AS_GIVEN];
    b->facts = b->all_facts[AS_GIVEN];
    return code;
}

int bench_open(struct bench *b, const struct step *step, const struct options *options,
               const struct input *input, bool emulated, struct fault *fault)
{
    *b = (struct bench){.step = step, .options = options, .input = input, .emulated = emulated};
    int code = state_first_problem(b, fault);
    if (!code) code = make_buffers(b, fault);
    if (!code) code = fingerprinter_open(&b->fingerprinter, step->on_host, fault);
    if (!code) code = timer_open(&b->timer, step->on_host, fault);
    if (code) bench_close(b);
    return code;
}

void bench_close(struct bench *b)
{
    timer_close(&b->timer);
    fingerprinter_close(&b->fingerprinter);
    buffer_free(&b->in);
    buffer_free(&b->out);
    buffer_free(&b->workspace);
    buffer_free(&b->shifted);
    for (int order = 0; order < ORDERS; order++) {
        free(b->references[order]);
        b->references[order] = NULL;
    }
    free(b->reversed);
    if (is_pinned(b))
        cudaFreeHost(b->piece);
    else
        free(b->piece);
    b->reversed = b->piece = NULL;
}

void outcome_free(struct outcome *outcome) { counters_free(&outcome->counters); }

/* ---- the order of the input ------------------------------------------------------------------ */

int bench_reverse(struct bench *b, struct fault *fault)
{
    size_t n = b->input->n, size = element_size(b->step->element);
    b->reversed = malloc(n * size);
    if (!b->reversed)
        return fail(fault, EXIT_USAGE, "%zu elements in reverse order do not fit into memory.", n);
    reverse_on_host(b->reversed, b->input->data, size, n);
    return state_problem(b, REVERSED, b->reversed, fault);
}

cudaError_t bench_set_order(struct bench *b, enum order order, cudaStream_t stream)
{
    if (b->order == order) return cudaSuccess;
    b->order = order;
    b->problem = b->problems[order];
    b->facts = b->all_facts[order];
    if (b->step->on_host || b->emulated)
        return buffer_upload(&b->in, 0, b->problem.in, b->in.bytes);
    return reverse_on_device(b->in.data, element_size(b->step->element), b->problem.n, stream);
}

int bench_wait(const struct bench *b, struct fault *fault)
{
    if (!b->step->on_host) CUDA_CHECK(fault, cudaStreamSynchronize(b->timer.stream));
    return 0;
}

/* ---- is it right? ---------------------------------------------------------------------------- */

static int shift_to_inclusive(struct bench *b, struct fault *fault)
{
    size_t n = b->input->n;
    const unsigned char *in = b->in.data;
    const void *last = in + (n - 1) * element_size(b->step->element);
    CUDA_CHECK(fault, buffer_poison(&b->shifted, b->timer.stream));
    if (b->step->on_host)
        inclusive_from_exclusive_host(b->step->element, b->shifted.data, b->out.data, last, n);
    else
        CUDA_CHECK(fault, inclusive_from_exclusive(b->step->element, b->shifted.data, b->out.data,
                                                   last, n, b->timer.stream));
    return bench_wait(b, fault);
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

static struct walk walk_through(const struct bench *b)
{
    bool sample = b->options->verify == VERIFY_SAMPLE && !b->whole;
    return (struct walk){.n = b->input->n, .sample = sample};
}

/* Elements per block if these are threads times a power of two; otherwise 0. */
static size_t tile_of(const struct launch_shape *shape, size_t n)
{
    if (shape->grid < 2) return 0;
    for (size_t each = 1; each <= 64; each *= 2) {
        size_t tile = shape->block * each;
        if ((n + tile - 1) / tile == shape->grid) return tile;
    }
    return 0;
}

static int compare(struct bench *b, const struct buffer *result, bool inclusive,
                   const struct launch_shape *shape, struct verdict *verdict, struct fault *fault)
{
    struct problem problem = b->problem;
    size_t n = problem.n, size = element_size(element_of_sum(problem.element));
    struct tree tree = step_tree(b->step, n, b->options->variant);
    if (inclusive && !problem.inclusive) /* the last element is added at the end */
        tree.depth++, tree.joins++;
    if (problem.reference && inclusive && !problem.inclusive) problem.reference++;
    problem.inclusive = inclusive;
    struct verifier verifier;
    verify_begin(&verifier, &problem, &b->facts, &tree, tile_of(shape, n));
    progress_begin("verifying", n);
    cudaError_t error = cudaSuccess;
    for (struct walk walk = walk_through(b); !error && walk_on(&walk);) {
        error = buffer_download(result, walk.start * size, b->piece, walk.count * size);
        if (!error) verify_piece(&verifier, b->piece, walk.start, walk.count);
    }
    progress_end();
    CUDA_CHECK(fault, error);
    *verdict = verify_end(&verifier);
    return 0;
}

/* The same for an application's result, which it judges itself. */
static int judge(struct bench *b, struct verdict *verdict, struct fault *fault)
{
    *verdict = (struct verdict){.exact = true};
    CUDA_CHECK(fault, buffer_download(&b->out, 0, b->piece, b->out.bytes));
    progress_begin("verifying", 0);
    int code = b->step->application->verify(verdict, &b->problem, b->options, b->piece, fault);
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

static int check_input(struct bench *b, char *damage, size_t size, struct fault *fault)
{
    size_t width = element_size(b->step->element);
    if (*damage) return 0;
    for (struct walk walk = walk_through(b); walk_on(&walk);) {
        const unsigned char *was = (const unsigned char *)b->problem.in + walk.start * width;
        const unsigned char *is = b->piece;
        CUDA_CHECK(fault,
                   buffer_download(&b->in, walk.start * width, b->piece, walk.count * width));
        if (are_same(was, is, walk.count * width)) continue;
        size_t i = 0;
        while (memcmp(was + i * width, is + i * width, width) == 0) i++;
        snprintf(damage, size, "the input was modified, first at element %zu", walk.start + i);
        return 0;
    }
    return 0;
}

static int check_damage(struct bench *b, char *damage, size_t size, struct fault *fault)
{
    size_t in = element_size(b->step->element);
    size_t out = element_size(element_of_sum(b->step->element));
    int code = check_guards(&b->out, "the output", out, damage, size, fault);
    if (!code) code = check_guards(&b->in, "the input", in, damage, size, fault);
    if (!code) code = check_guards(&b->workspace, "the workspace", out, damage, size, fault);
    if (!code) code = check_input(b, damage, size, fault);
    return code;
}

/* The verdict on the next result. If the results before it are right, theirs is part of it. */
static void note_verdict(struct outcome *o, struct verdict *verdict)
{
    if (o->verdict.right) verdict_add_earlier(verdict, &o->verdict);
    o->verdict = *verdict;
}

static int verify_result(struct bench *b, bool inclusive, struct outcome *o, struct fault *fault)
{
    struct verdict verdict;
    int code = b->step->application
                   ? judge(b, &verdict, fault)
                   : compare(b, &b->out, b->step->inclusive, &o->shape, &verdict, fault);
    if (code) return code;
    note_verdict(o, &verdict);
    if (!inclusive || !verdict.right) return 0;
    code = compare(b, &b->shifted, true, &o->shape, &verdict, fault);
    if (!code) note_verdict(o, &verdict);
    return code;
}

int bench_verify(struct bench *b, struct outcome *o, struct fault *fault)
{
    bool inclusive = shifts(b->step, b->options) && b->order == AS_GIVEN;
    int code;
    o->verified = b->options->verify != VERIFY_NONE;
    if (inclusive) {
        code = shift_to_inclusive(b, fault);
        if (code) return code;
    }
    if (!o->verified) return 0;
    code = verify_result(b, inclusive, o, fault);
    if (!code) code = check_damage(b, o->damage, sizeof o->damage, fault);
    if (code) return code;
    o->right = o->verdict.right && !*o->damage;
    return 0;
}

int bench_whole_result(struct bench *b, const void **result, struct fault *fault)
{
    CUDA_CHECK(fault, buffer_download(&b->out, 0, b->piece, b->out.bytes));
    *result = b->piece;
    return 0;
}

int bench_result(struct bench *b, size_t start, void *to, size_t count, struct fault *fault)
{
    const struct buffer *result = shifts(b->step, b->options) ? &b->shifted : &b->out;
    size_t size = element_size(element_of_sum(b->step->element));
    CUDA_CHECK(fault, buffer_download(result, start * size, to, count * size));
    return 0;
}
