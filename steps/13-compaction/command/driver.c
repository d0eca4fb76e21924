/* Step 13's descriptor: how its compactions are called, and what is right. */
#include "common/harness/verify/verify.h"
#include "common/step/application.h"
#include "common/step/step.h"
#include "steps/13-compaction/compact.h"
#include "expression.h"
#include "request.h"
#include "steps/13-compaction/step13.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const variants[] = {
    [FAST] = "fast", [DOCUMENT] = "document", [ATOMIC] = "atomic", NULL};

/* ---- memory ---------------------------------------------------------------------------------- */

/* The result: room for n elements, and behind them, at the next multiple of 8, how many
 * were kept. */
#define COUNT sizeof(uint64_t)

static size_t output_bytes(size_t n, int variant)
{
    (void)variant;
    return n * element_size(request.element) + 2 * COUNT;
}

/* Where the count is in the result, whose address is displaced by --offset. */
static size_t place_of_count(size_t n)
{
    size_t start = request.offset, end = start + n * element_size(request.element);
    return (end + COUNT - 1) / COUNT * COUNT - start;
}

#define PART 256 /* bytes: parts of the workspace begin at multiples of this */

static size_t part(size_t bytes) { return (bytes + PART - 1) / PART * PART; }

static size_t compaction_workspace(size_t n, int variant)
{
    size_t bytes = 0;
    if (variant == DOCUMENT) return document_workspace(n);
    if (variant == FAST) compact_f32(NULL, &bytes, NULL, NULL, NULL, n, NULL, NULL);
    return bytes;
}

/* The compaction's own; for --grep also that of the lines, and the flags. */
static size_t workspace(size_t n, int variant)
{
    size_t own = part(compaction_workspace(n, variant));
    return request.grep ? own + part(lines_workspace(n)) + part(n) : own;
}

/* ---- one compaction -------------------------------------------------------------------------- */

static cudaError_t compact_fast(const struct compaction *c)
{
    const struct predicate *p = c->predicate;
    size_t bytes = c->bytes;
    void *w = c->workspace;
    switch (c->element) {
    case ELEMENT_F32: return compact_f32(w, &bytes, c->out, c->kept, c->in, c->n, p, c->stream);
    case ELEMENT_F64: return compact_f64(w, &bytes, c->out, c->kept, c->in, c->n, p, c->stream);
    case ELEMENT_I32: return compact_i32(w, &bytes, c->out, c->kept, c->in, c->n, p, c->stream);
    case ELEMENT_I64: return compact_i64(w, &bytes, c->out, c->kept, c->in, c->n, p, c->stream);
    default: return compact_flagged(w, &bytes, c->out, c->kept, c->in, c->flags, c->n, c->stream);
    }
}

static cudaError_t step13_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                               cudaStream_t stream)
{
    struct compaction c = {.element = request.element,
                           .out = out,
                           .kept = (uint64_t *)((char *)out + place_of_count(n)),
                           .in = in,
                           .n = n,
                           .predicate = &request.predicate,
                           .workspace = workspace,
                           .bytes = compaction_workspace(n, variant),
                           .stream = stream};
    if (request.grep) {
        char *lines = (char *)workspace + part(c.bytes);
        size_t bytes = lines_workspace(n);
        uint8_t *flags = (uint8_t *)lines + part(bytes);
        CUDA_TRY(flag_lines(flags, in, n, &request.search, lines, bytes, stream));
        c.flags = flags;
    }
    if (variant == DOCUMENT) return compact_document(&c);
    return variant == ATOMIC ? compact_atomic(&c) : compact_fast(&c);
}

/* ---- what is right --------------------------------------------------------------------------- */

static unsigned char folded(unsigned char c)
{
    return request.search.ignore_case && c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : c;
}

static bool line_has_text(const unsigned char *line, size_t length)
{
    const struct search *s = &request.search;
    for (size_t i = 0; i + s->length <= length; i++) {
        size_t k = 0;
        while (k < s->length && folded(line[i + k]) == folded((unsigned char)s->text[k])) k++;
        if (k == s->length) return true;
    }
    return false;
}

/* Copies the lines that are kept. A newline belongs to the line that it ends. */
static size_t keep_lines(unsigned char *to, const unsigned char *in, size_t n)
{
    size_t kept = 0;
    for (size_t start = 0, end; start < n; start = end) {
        for (end = start; end < n && in[end] != '\n'; end++) continue;
        bool has = line_has_text(in + start, end - start);
        if (end < n) end++;
        if (has == request.search.invert) continue;
        memcpy(to + kept, in + start, end - start);
        kept += end - start;
    }
    return kept;
}

static size_t keep_numbers(unsigned char *to, const struct problem *p)
{
    size_t kept = 0, size = element_size(p->element);
    for (size_t i = 0; i < p->n; i++)
        if (predicate_keeps(&request.predicate, key_of_element(p->element, p->in, i)))
            memcpy(to + size * kept++, (const char *)p->in + size * i, size);
    return kept;
}

static uint64_t kept_last; /* of the result that was verified last */

static uint64_t count_of(const void *out, size_t n)
{
    uint64_t kept;
    memcpy(&kept, (const char *)out + place_of_count(n), sizeof kept);
    return kept;
}

static size_t size_compared;

static int compare_bytes(const void *a, const void *b) { return memcmp(a, b, size_compared); }

/* A copy of `count` elements in an order that does not depend on theirs. */
static void *sorted(const void *elements, size_t count, size_t size)
{
    void *copy = malloc(count * size + 1);
    if (!copy) return NULL;
    memcpy(copy, elements, count * size);
    size_compared = size;
    qsort(copy, count, size, compare_bytes);
    return copy;
}

static void note(struct verdict *v, size_t index, const char *got, const char *want)
{
    v->right = false;
    v->wrong++;
    if (v->shown == VERIFY_SHOWN) return;
    struct mismatch *m = &v->first[v->shown++];
    m->index = index;
    snprintf(m->got, sizeof m->got, "%s", got);
    snprintf(m->want, sizeof m->want, "%s", want);
}

static void compare(struct verdict *v, const struct problem *p, const unsigned char *out,
                    const unsigned char *want, size_t kept)
{
    size_t size = element_size(p->element);
    char got_text[48], want_text[48];
    v->checked = kept;
    for (size_t i = 0; i < kept; i++) {
        if (memcmp(out + i * size, want + i * size, size) == 0) continue;
        element_text(p->element, out, i, got_text, sizeof got_text);
        element_text(p->element, want, i, want_text, sizeof want_text);
        note(v, i, got_text, want_text);
    }
}

/* Behind the elements that are kept nothing may be written. */
static void check_rest(struct verdict *v, const struct problem *p, const unsigned char *out,
                       size_t kept)
{
    size_t size = element_size(p->element);
    for (size_t at = kept * size; at < place_of_count(p->n); at++)
        if (out[at] != VERIFY_POISON) {
            note(v, at / size, "written", "left as it was");
            snprintf(v->cause, sizeof v->cause, "something is stored behind the last kept element");
            return;
        }
}

static void judge(struct verdict *v, const struct problem *p, bool any_order,
                  const unsigned char *out, const unsigned char *want, size_t kept)
{
    char got_count[48], want_count[48];
    v->right = v->exact = true;
    if (count_of(out, p->n) != kept) {
        snprintf(got_count, sizeof got_count, "%llu kept", (unsigned long long)count_of(out, p->n));
        snprintf(want_count, sizeof want_count, "%zu kept", kept);
        note(v, p->n, got_count, want_count);
        snprintf(v->cause, sizeof v->cause, "the number of kept elements is wrong");
    }
    size_t size = element_size(p->element);
    void *own = any_order ? sorted(out, kept, size) : NULL;
    void *other = any_order ? sorted(want, kept, size) : NULL;
    compare(v, p, own ? own : out, other ? other : want, kept);
    free(own);
    free(other);
    check_rest(v, p, out, kept);
}

static int verify(struct verdict *v, const struct problem *p, const struct options *o,
                  const void *out, struct fault *fault)
{
    unsigned char *want = malloc(p->n * element_size(p->element) + 1);
    if (!want) return fail(fault, EXIT_USAGE, "the expected result does not fit into memory.");
    size_t kept = request.grep ? keep_lines(want, p->in, p->n) : keep_numbers(want, p);
    judge(v, p, o->variant == ATOMIC, out, want, kept);
    kept_last = kept;
    free(want);
    return 0;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Every element is read once, and those that are kept are written once. */
static double least_bytes(size_t n, int variant)
{
    (void)variant;
    return (double)element_size(request.element) * ((double)n + (double)kept_last);
}

/* The document's kernels read the elements twice, and write and read flags (twice) and places, of
 * four bytes each. --grep finds lines before that: newlines (1 byte) are written and read, places
 * (4) written and read twice, marks cleared and read, the text read twice, flags written and read.
 * The second reading of a place happens only where the text is found, so this counts at most 4 too
 * many. */
static double moved_bytes(size_t n, int variant)
{
    double moved = least_bytes(n, variant), elements = (double)n;
    if (variant == DOCUMENT) moved += elements * (double)(element_size(request.element) + 5 * 4);
    if (request.grep) moved += elements * (2 + 3 * 4 + 2 + 2 + 2);
    return moved;
}

static void result(char *text, size_t size)
{
    snprintf(text, size, "%llu %s kept", (unsigned long long)kept_last,
             request.grep ? "bytes" : "elements");
}

/* Of the main kernel. */
static struct launch_shape shape(size_t n, int variant)
{
    struct launch_shape shape = {.grid = n > 0 ? (n - 1) / COMPACT_THREADS + 1 : 1,
                                 .block = COMPACT_THREADS,
                                 .launches = variant == DOCUMENT ? 3 : 1};
    if (variant == FAST && compact_fast_shape(n, request.element, &shape) != cudaSuccess)
        (void)cudaGetLastError(); /* the launch itself will say what is wrong */
    shape.launches += request.grep ? LINES_LAUNCHES : 0;
    return shape;
}

/* ---- the hooks ------------------------------------------------------------------------------- */

static int check_count(size_t n, const struct options *o, struct fault *fault)
{
    if (o->variant != DOCUMENT || n <= UINT32_MAX) return 0;
    return fail(fault, EXIT_USAGE,
                "%zu elements are more than variant document takes; use --variant fast.", n);
}

static int plan(struct input *in, const struct options *o, struct fault *fault)
{
    int code = request_plan(in, o, fault);
    return code ? code : check_count(in->n, o, fault);
}

static int input(struct input *in, const struct options *o, struct fault *fault)
{
    int code = request_input(in, o, fault);
    if (code) return code;
    request.element = in->element;
    request.offset = o->offset * element_size(in->element);
    code = check_count(in->n, o, fault);
    if (code) input_free(in);
    return code;
}

static int write(const struct options *o, const struct input *in, const void *out,
                 struct fault *fault)
{
    return request_write(o, in, out, count_of(out, in->n), fault);
}

static const struct application application = {
    .experiment = "13-selects",
    .plan = plan,
    .input = input,
    .output_bytes = output_bytes,
    .verify = verify,
    .write = write,
    .least_bytes = least_bytes,
    .moved_bytes = moved_bytes,
    .result = result,
};

const struct step step13 = {
    .number = 13,
    .name = "compaction",
    .title = "Stream compaction: keep what a predicate keeps",
    .teaches = "a scan of 0s and 1s gives each kept element its place",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step13_scan,
    .shape = shape,
    .workspace = workspace,
    .clear_workspace = true,
    .options = request_options,
    .application = &application,
};
