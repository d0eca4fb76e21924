/*
 * side_by_side_verify.c — is what a contender has written right? Every element, and nothing beyond.
 */
#include "side_by_side.h"

#include "common/harness/cuda_check.h"
#include "common/harness/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)4 << 20) /* elements that the host looks at together */

/* ---- the host's verdict, where the device has found a difference ----------------------------- */

/* Verifies the output of one window with verify.h; its first mismatch becomes the text. */
static cudaError_t judge_pieces(const struct match *m, struct verifier *v, const char *out,
                                void *piece)
{
    size_t size = element_size(element_of_sum(m->data->element));
    for (size_t at = 0; at < m->n; at += PIECE) {
        size_t count = m->n - at < PIECE ? m->n - at : PIECE;
        CUDA_TRY(cudaMemcpy(piece, out + at * size, count * size, cudaMemcpyDeviceToHost));
        verify_piece(v, piece, at, count);
    }
    return cudaSuccess;
}

static int judge(const struct match *m, struct entry *e, size_t window, struct fault *fault)
{
    const struct data *data = m->data;
    size_t size = element_size(data->element), sum = element_size(element_of_sum(data->element));
    void *in = malloc(m->n * size), *piece = malloc(PIECE * sizeof(double));
    struct problem problem = {.element = data->element, .in = in, .n = m->n};
    cudaError_t error = cudaErrorMemoryAllocation;
    struct verifier verifier;
    if (in && piece)
        error = cudaMemcpy(in, (const char *)data->in + window * m->stride * size, m->n * size,
                           cudaMemcpyDeviceToHost);
    if (!error) {
        struct facts facts = facts_of(&problem);
        struct tree unknown = {.depth = (double)m->n};
        verify_begin(&verifier, &problem, &facts, &unknown, 0);
        error = judge_pieces(m, &verifier, (char *)m->out.data + window * m->stride * sum, piece);
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
static size_t copied_sums(const struct match *m)
{
    return match_copied_bytes(m) / element_size(element_of_sum(m->data->element));
}

static int look_at_window(const struct match *m, struct entry *e, size_t window,
                          struct fault *fault)
{
    struct difference found;
    size_t start = window * m->stride;
    const char *out = (const char *)m->out.data;
    out += start * element_size(element_of_sum(m->data->element));
    if (e->who.way)
        CUDA_CHECK(fault, data_compare(m->data, out, start, copied_sums(m), true, &found));
    else if (contender_copies(&e->who))
        CUDA_CHECK(fault, data_compare_input(m->data, out, start, m->n, &found));
    else
        CUDA_CHECK(fault, data_compare(m->data, out, start, m->n, false, &found));
    if (found.count == 0) return 0;
    if (!contender_copies(&e->who)) return judge(m, e, window, fault);
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
    if (where)
        snprintf(e->wrong, sizeof e->wrong, "%s was written %ld bytes %s", what, labs(where),
                 where > 0 ? "past its end" : "before its start");
    return 0;
}

static int look_at_input(const struct match *m, struct entry *e, struct fault *fault)
{
    struct difference found;
    size_t used = m->out.bytes / element_size(element_of_sum(m->data->element));
    CUDA_CHECK(fault, data_compare_input(m->data, m->data->in, 0, used, &found));
    if (found.count)
        snprintf(e->wrong, sizeof e->wrong, "the input was modified, first at element %llu",
                 found.first);
    return 0;
}

/* ---- on the host ----------------------------------------------------------------------------- */

static void look_at_host(const struct match *m, struct entry *e)
{
    const float *got = e->host_out.data;
    for (size_t i = 0; i < m->n; i++) {
        if (got[i] == (float)m->data->host_sums[i]) continue;
        snprintf(e->wrong, sizeof e->wrong, "[%zu] is %g in place of %d", i, (double)got[i],
                 (int)m->data->host_sums[i]);
        return;
    }
}

/* ---- fingerprints ---------------------------------------------------------------------------- */

static bool is_on_host(const struct entry *e) { return e->who.step && e->who.step->on_host; }

static const struct buffer *output_of(const struct match *m, const struct entry *e)
{
    return is_on_host(e) ? &e->host_out : &m->out;
}

static struct span numbers_of(const struct match *m, const struct entry *e)
{
    if (is_on_host(e)) return (struct span){m->data->host_in, m->n * sizeof(float), true};
    size_t used = m->out.bytes / element_size(element_of_sum(m->data->element));
    return (struct span){m->data->in, used * element_size(m->data->element), false};
}

/* A span without bytes (there is no workspace or no guard) gets 0. */
static int take(struct match *m, const struct entry *e, uint64_t *left, struct fault *fault)
{
    const struct buffer *out = output_of(m, e), *w = &e->workspace;
    size_t end = w->front + w->bytes, count = 0, next = 0;
    const struct span spans[LEFTS] = {
        [LEFT_OUT] = {out->base, out->whole, out->on_host},
        [LEFT_BEFORE_WORKSPACE] = {w->base, w->front, false},
        [LEFT_BEHIND_WORKSPACE] = {w->base ? w->base + end : NULL, w->whole - end, false},
        [LEFT_IN] = numbers_of(m, e)};
    struct span some[LEFTS];
    uint64_t taken[LEFTS];
    for (int i = 0; i < LEFTS; i++)
        if (spans[i].bytes) some[count++] = spans[i];
    int code = fingerprints(&m->fingerprinter, some, count, m->timer.stream, taken, fault);
    for (int i = 0; i < LEFTS; i++) left[i] = spans[i].bytes && !code ? taken[next++] : 0;
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

cudaError_t match_poison(const struct match *m, const struct entry *e)
{
    return buffer_poison(output_of(m, e), m->timer.stream);
}

static int run_poisoned(struct match *m, struct entry *e, cudaGraphExec_t graph,
                        struct fault *fault)
{
    CUDA_CHECK(fault, match_poison(m, e));
    double start = clock_seconds();
    if (graph)
        CUDA_CHECK(fault, cudaGraphLaunch(graph, m->timer.stream));
    else
        CUDA_CHECK(fault, match_run(m, e, 0, m->timer.stream));
    match_note_lead(e, clock_seconds() - start);
    CUDA_CHECK(fault, cudaStreamSynchronize(m->timer.stream));
    return 0;
}

/* Looks at every element of the runs, at the guards and at the input. */
static int look(struct match *m, struct entry *e, size_t runs, struct fault *fault)
{
    int code = 0;
    if (is_on_host(e)) {
        look_at_host(m, e);
        return look_at_guards(&e->host_out, "the output", e, fault);
    }
    for (size_t w = 0; w < runs && !code && !*e->wrong; w++) code = look_at_window(m, e, w, fault);
    if (!code) code = look_at_guards(&m->out, "the output", e, fault);
    if (!code) code = look_at_guards(&e->workspace, "the workspace", e, fault);
    if (!code) code = look_at_input(m, e, fault);
    return code;
}

/* Finds a launch that has failed without an error from the scan. */
static void look_at_errors(struct entry *e)
{
    cudaError_t error = is_on_host(e) ? cudaSuccess : cudaGetLastError();
    if (error)
        snprintf(e->wrong, sizeof e->wrong, "a call in it failed, and it did not say so: %s",
                 cudaGetErrorString(error));
}

int match_verify(struct match *m, struct entry *e, cudaGraphExec_t graph, struct fault *fault)
{
    e->right = false;
    e->wrong[0] = '\0';
    int code = run_poisoned(m, e, graph, fault);
    if (code) return code;
    look_at_errors(e);
    if (!*e->wrong) code = look(m, e, graph ? m->runs : 1, fault);
    if (!code && !*e->wrong) code = take(m, e, e->left, fault);
    e->right = !code && !*e->wrong;
    return code;
}

int match_check(struct match *m, struct entry *e, bool in_graph, const char *run,
                struct fault *fault)
{
    uint64_t left[LEFTS];
    char wrong[sizeof e->wrong];
    look_at_errors(e);
    int code = take(m, e, left, fault);
    if (code || (!*e->wrong && memcmp(left, e->left, sizeof left) == 0)) return code;
    if (!*e->wrong) code = look(m, e, in_graph ? m->runs : 1, fault);
    if (code) return code;
    /* Fingerprints may differ although the result is right: equal numbers may have different bits,
     * as 0 and -0 do, and there is memory between the outputs. */
    snprintf(wrong, sizeof wrong, "%s",
             *e->wrong ? e->wrong : "its output is not, bit by bit, that of the verified run");
    snprintf(e->wrong, sizeof e->wrong, "%.60s is wrong: %.300s", run, wrong);
    e->right = false;
    return 0;
}
