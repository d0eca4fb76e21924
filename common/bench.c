#include "bench.h"

#include "cuda_check.h"
#include "inclusive.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* Arrays are brought to the host and compared in pieces of so many elements. */
#define PIECE ((size_t)4 << 20)

/* --verify sample looks at the first and the last span and one in each stretch between them. */
#define SAMPLE_SPANS 64
#define SAMPLE_SPAN  ((size_t)4096)

static size_t input_bytes(const struct step *step, size_t n)
{
    return n * element_size(step->element);
}

static size_t output_bytes(const struct step *step, size_t n)
{
    return n * element_size(element_of_sum(step->element));
}

static size_t workspace_bytes(const struct step *step, const struct options *options, size_t n)
{
    return step->workspace ? step->workspace(n, options->variant) : 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

bool bench_memory(const struct step *step, const struct options *options, size_t n, bool emulated,
                  size_t *device, size_t *host)
{
    /* No element and no workspace is wider than 32 bytes an element; a larger n would overflow. */
    if (n > SIZE_MAX / 64) return false;
    size_t arrays = buffer_room(input_bytes(step, n), 0) +
                    buffer_room(output_bytes(step, n), 0) * (options->inclusive ? 2 : 1) +
                    buffer_room(workspace_bytes(step, options, n), 0);
    size_t piece = (n < PIECE ? n : PIECE) * sizeof(double);
    *host = input_bytes(step, n) + piece + (step->reference ? (n + 1) * sizeof(double) : 0);
    if (step->on_host || emulated) *host += arrays;
    *device = step->on_host ? 0 : arrays;
    return true;
}

/* ---- open and close -------------------------------------------------------------------------- */

static int make_buffers(struct bench *b, struct fault *fault)
{
    const struct step *step = b->step;
    size_t n = b->input->n, workspace = workspace_bytes(step, b->options, n);
    size_t in_offset = b->options->offset * element_size(step->element);
    size_t out_offset = b->options->offset * element_size(element_of_sum(step->element));
    bool on_host = step->on_host;
    int code = buffer_make(&b->in, input_bytes(step, n), in_offset, on_host, "the input", fault);
    if (!code)
        code =
            buffer_make(&b->out, output_bytes(step, n), out_offset, on_host, "the output", fault);
    if (!code && workspace)
        code = buffer_make(&b->workspace, workspace, 0, on_host, "the workspace", fault);
    if (!code && b->options->inclusive)
        code = buffer_make(&b->shifted, output_bytes(step, n), out_offset, on_host,
                           "the inclusive result", fault);
    if (code) return code;
    if (workspace && step->clear_workspace)
        CUDA_CHECK(fault, cudaMemset(b->workspace.data, 0, workspace));
    CUDA_CHECK(fault, buffer_upload(&b->in, 0, b->input->data, b->in.bytes));
    return 0;
}

static int state_problem(struct bench *b, struct fault *fault)
{
    const struct step *step = b->step;
    size_t n = b->input->n;
    b->problem = (struct problem){
        .element = step->element, .in = b->input->data, .n = n, .inclusive = step->inclusive};
    size_t piece = n < PIECE ? n : PIECE;
    b->piece = malloc(piece * element_size(ELEMENT_F64));
    if (step->reference) b->reference = malloc((n + 1) * sizeof *b->reference);
    if (!b->piece || (step->reference && !b->reference))
        return fail(fault, EXIT_USAGE, "the reference for %zu elements does not fit into memory.",
                    n);
    if (step->reference) {
        step->reference(b->reference, b->input->data, n, b->options->variant);
        long double last; /* one more: what --inclusive puts at the end */
        element_widen(step->element, b->input->data, n - 1, 1, &last);
        b->reference[n] = b->reference[n - 1] + (double)last;
    }
    b->problem.reference = b->reference;
    progress_begin("looking at the input", n);
    b->facts = facts_of(&b->problem);
    progress_end();
    return facts_check(&b->facts, step->element, fault);
}

int bench_open(struct bench *b, const struct step *step, const struct options *options,
               const struct input *input, bool emulated, struct fault *fault)
{
    *b = (struct bench){.step = step, .options = options, .input = input, .emulated = emulated};
    int code = state_problem(b, fault);
    if (!code) code = make_buffers(b, fault);
    if (!code) code = timer_open(&b->timer, step->on_host, fault);
    if (code) bench_close(b);
    return code;
}

void bench_close(struct bench *b)
{
    timer_close(&b->timer);
    buffer_free(&b->in);
    buffer_free(&b->out);
    buffer_free(&b->workspace);
    buffer_free(&b->shifted);
    free(b->reference);
    free(b->piece);
    b->reference = NULL;
    b->piece = NULL;
}

void outcome_free(struct outcome *outcome) { counters_free(&outcome->counters); }

/* ---- one run --------------------------------------------------------------------------------- */

/* Before each run: the output holds poison, or in place the input. */
static cudaError_t prepare(void *context, cudaStream_t stream)
{
    const struct bench *b = context;
    if (!b->options->in_place) return buffer_poison(&b->out, stream);
    if (!b->step->on_host)
        return cudaMemcpyAsync(b->out.data, b->in.data, b->in.bytes, cudaMemcpyDeviceToDevice,
                               stream);
    memcpy(b->out.data, b->in.data, b->in.bytes);
    return cudaSuccess;
}

static cudaError_t scan(void *context, cudaStream_t stream)
{
    const struct bench *b = context;
    const void *in = b->options->in_place ? b->out.data : b->in.data;
    return b->step->scan(b->out.data, in, b->input->n, b->options->variant, b->workspace.data,
                         stream);
}

static int synchronize(const struct bench *b, struct fault *fault)
{
    if (!b->step->on_host) CUDA_CHECK(fault, cudaStreamSynchronize(b->timer.stream));
    return 0;
}

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
    return synchronize(b, fault);
}

/* ---- is it right? ---------------------------------------------------------------------------- */

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
    return (struct walk){.n = b->input->n, .sample = b->options->verify == VERIFY_SAMPLE};
}

/* Elements a block, if the launch shape tells: threads times a power of two. 0: it does not. */
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
    double depth = b->step->depth ? b->step->depth(n, b->options->variant) : (double)n;
    if (inclusive && !problem.inclusive) depth++; /* the last element is added at the end */
    if (problem.reference && inclusive && !problem.inclusive) problem.reference++;
    problem.inclusive = inclusive;
    struct verifier verifier;
    verify_begin(&verifier, &problem, &b->facts, depth, tile_of(shape, n));
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

static int check_input(struct bench *b, char *damage, size_t size, struct fault *fault)
{
    size_t width = element_size(b->step->element);
    if (*damage) return 0;
    for (struct walk walk = walk_through(b); walk_on(&walk);) {
        const unsigned char *was = (const unsigned char *)b->input->data + walk.start * width;
        const unsigned char *is = b->piece;
        CUDA_CHECK(fault,
                   buffer_download(&b->in, walk.start * width, b->piece, walk.count * width));
        if (memcmp(was, is, walk.count * width) == 0) continue;
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

/* Checks the run that has just ended; the outcome keeps the first thing found wrong. */
static int verify(struct bench *b, struct outcome *o, bool after_timing, struct fault *fault)
{
    struct verdict verdict;
    o->verified = b->options->verify != VERIFY_NONE;
    if (b->options->inclusive) {
        int code = shift_to_inclusive(b, fault);
        if (code) return code;
    }
    if (!o->verified) return 0;
    int code = compare(b, &b->out, b->step->inclusive, &o->shape, &verdict, fault);
    if (!code && verdict.right && b->options->inclusive)
        code = compare(b, &b->shifted, true, &o->shape, &verdict, fault);
    if (!code) code = check_damage(b, o->damage, sizeof o->damage, fault);
    if (code) return code;
    o->verdict = verdict;
    o->right = verdict.right && !*o->damage;
    o->after_timing = after_timing;
    return 0;
}

/* ---- everything ------------------------------------------------------------------------------ */

static int first_run(struct bench *b, struct outcome *o, double *seconds, struct fault *fault)
{
    CUDA_CHECK(fault, prepare(b, b->timer.stream));
    int code = synchronize(b, fault);
    if (code) return code;
    progress_begin(b->emulated ? "emulating" : "running", 0);
    o->counted = b->emulated && counters_begin();
    double start = clock_seconds();
    cudaError_t error = scan(b, b->timer.stream);
    code = error ? cuda_fault(fault, error, "the scan") : synchronize(b, fault);
    *seconds = clock_seconds() - start;
    if (o->counted) counters_end(&o->counters);
    progress_end();
    return code;
}

/* Copies the input over the output, which is filled anew before the next run. */
static int measure_roof(struct bench *b, struct outcome *o, int reps, struct fault *fault)
{
    unsigned char *to = b->out.data, *from = b->in.data;
    size_t bytes = b->in.bytes < b->out.bytes ? b->in.bytes : b->out.bytes;
    /* Aligned, whatever --offset says: the roof is the device's, not the buffer's. */
    size_t skip = -(uintptr_t)to % ROOF_ALIGNMENT;
    if (bytes <= skip) return 0;
    int code = roof_measure(&b->timer, to + skip, from + skip, bytes - skip, reps, &o->roof, fault);
    o->roofed = !code;
    return code;
}

static int measure(struct bench *b, struct outcome *o, double first_seconds, struct fault *fault)
{
    int reps = b->options->reps, code = 0;
    if (reps == REPS_DEFAULT) reps = timing_default_reps(b->emulated, first_seconds);
    if (reps == 0) return 0;
    if (!b->emulated && !b->step->on_host) {
        code = measure_roof(b, o, reps, fault);
    }
    if (!code) code = timer_run_warm(&b->timer, prepare, scan, NULL, b, reps, &o->timing, fault);
    if (!code) code = verify(b, o, true, fault);
    return code;
}

int bench_run(struct bench *b, struct outcome *o, struct fault *fault)
{
    *o = (struct outcome){.n = b->input->n, .right = true};
    if (b->step->shape) o->shape = b->step->shape(o->n, b->options->variant);
    double seconds = 0;
    int code = first_run(b, o, &seconds, fault);
    if (!code) code = verify(b, o, false, fault);
    /* A wrong result's time means nothing; and a trace is of one run. */
    if (!code && o->right && !b->options->trace) code = measure(b, o, seconds, fault);
    if (code) outcome_free(o);
    return code;
}

int bench_result(struct bench *b, size_t start, void *to, size_t count, struct fault *fault)
{
    const struct buffer *result = b->options->inclusive ? &b->shifted : &b->out;
    size_t size = element_size(element_of_sum(b->step->element));
    CUDA_CHECK(fault, buffer_download(result, start * size, to, count * size));
    return 0;
}
