/*
 * side_by_side_verify.c — is what a contender has written right? Every element, and nothing beyond.
 */
#include "bench.h"

#include "common/step/cuda_check.h"
#include "common/harness/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A span of 0 bytes (no workspace, or no guard) gets 0. */
static int take(struct side_by_side *s, const struct entry *e, uint64_t *left, struct fault *fault)
{
    const struct buffer *out = output_of(s, e), *w = &e->workspace;
    size_t end = w->front + w->bytes, count = 0, next = 0;
    const struct span spans[LEFTS] = {
        [LEFT_OUT] = {out->base, out->whole, out->on_host},
        [LEFT_BEFORE_WORKSPACE] = {w->base, w->front, false},
        [LEFT_BEHIND_WORKSPACE] = {w->base ? w->base + end : NULL, w->whole - end, false},
        [LEFT_IN] = numbers_of(s, e)};
    struct span some[LEFTS];
    uint64_t taken[LEFTS];
    for (int i = 0; i < LEFTS; i++)
        if (spans[i].bytes) some[count++] = spans[i];
    int code = fingerprints(&s->fingerprinter, some, count, s->timer.stream, taken, fault);
    for (int i = 0; i < LEFTS; i++) left[i] = spans[i].bytes && !code ? taken[next++] : 0;
    return code;
}

/* ---- the whole verification ------------------------------------------------------------------ */

cudaError_t side_by_side_poison(const struct side_by_side *s, const struct entry *e)
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

int side_by_side_verify(struct side_by_side *s, struct entry *e, cudaGraphExec_t graph,
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

int side_by_side_check(struct side_by_side *s, struct entry *e, bool in_graph, const char *run,
                       struct fault *fault)
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
