/* Step 13's descriptor: how its compactions are called, and what is right. */
#include "common/harness/print/print.h"
#include "common/harness/run/runs.h"
#include "common/harness/verify/verify.h"
#include "common/step/options.h"
#include "expression.h"
#include "request.h"
#include "steps/13-compaction/compact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const variants[] = {
    [FAST] = "fast", [DOCUMENT] = "document", [ATOMIC] = "atomic", NULL};

/* ---- memory ---------------------------------------------------------------------------------- */

/* The result: room for n elements, and behind them, at the next multiple of 8, how many
 * were kept. */
#define COUNT sizeof(uint64_t)

static size_t result_bytes(const struct request *r, size_t n)
{
    return n * element_size(r->element) + 2 * COUNT;
}

/* Where the count is in the result, whose address is displaced by --offset. */
static size_t place_of_count(const struct request *r, size_t n)
{
    size_t end = r->offset + n * element_size(r->element);
    return (end + COUNT - 1) / COUNT * COUNT - r->offset;
}

#define PART 256 /* bytes: parts of the workspace begin at multiples of this */

static size_t part(size_t bytes) { return (bytes + PART - 1) / PART * PART; }

static size_t compaction_workspace(size_t n, int variant)
{
    size_t bytes = 0;
    if (variant == DOCUMENT) return document_workspace(n);
    // The widest elements have the smallest tiles, and need the most.
    if (variant == FAST) compact_f64(NULL, &bytes, NULL, NULL, NULL, n, NULL, NULL);
    return bytes;
}

/* The compaction's own; for --grep also that of the lines, and the flags. */
static size_t workspace(const struct request *r, size_t n, int variant)
{
    size_t own = part(compaction_workspace(n, variant));
    return r->grep ? own + part(lines_workspace(n)) + part(n) : own;
}

static struct needs needs(const struct subject *s, size_t n)
{
    const struct request *r = s->self;
    return (struct needs){.result = result_bytes(r, n),
                          .result_element = element_size(s->element),
                          .workspace = workspace(r, n, s->options->variant)};
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

static cudaError_t launch(const struct subject *s, const struct call *call)
{
    const struct request *r = s->self;
    int variant = s->options->variant;
    size_t n = call->n;
    struct compaction c = {.element = r->element,
                           .out = call->out,
                           .kept = (uint64_t *)((char *)call->out + place_of_count(r, n)),
                           .in = call->in,
                           .n = n,
                           .predicate = &r->predicate,
                           .workspace = call->workspace,
                           .bytes = compaction_workspace(n, variant),
                           .stream = call->stream};
    if (r->grep) {
        char *lines = (char *)call->workspace + part(c.bytes);
        size_t bytes = lines_workspace(n);
        uint8_t *flags = (uint8_t *)lines + part(bytes);
        CUDA_TRY(flag_lines(flags, call->in, n, &r->search, lines, bytes, call->stream));
        c.flags = flags;
    }
    if (variant == DOCUMENT) return compact_document(&c);
    return variant == ATOMIC ? compact_atomic(&c) : compact_fast(&c);
}

/* ---- what is right --------------------------------------------------------------------------- */

static unsigned char folded(const struct search *s, char c)
{
    return (unsigned char)(s->ignore_case && c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool line_has_text(const struct search *s, const char *line, size_t length)
{
    for (size_t i = 0; i + s->length <= length; i++) {
        size_t k = 0;
        while (k < s->length && folded(s, line[i + k]) == folded(s, s->text[k])) k++;
        if (k == s->length) return true;
    }
    return false;
}

/* Copies the lines that are kept. A newline belongs to the line that it ends. */
static size_t keep_lines(const struct search *s, char *to, const char *in, size_t n)
{
    size_t kept = 0;
    for (size_t start = 0, end; start < n; start = end) {
        for (end = start; end < n && in[end] != '\n'; end++) continue;
        bool has = line_has_text(s, in + start, end - start);
        if (end < n) end++;
        if (has == s->invert) continue;
        memcpy(to + kept, in + start, end - start);
        kept += end - start;
    }
    return kept;
}

static size_t keep_numbers(const struct predicate *predicate, char *to, const struct problem *p)
{
    size_t kept = 0, size = element_size(p->element);
    for (size_t i = 0; i < p->n; i++)
        if (predicate_keeps(predicate, key_of_element(p->element, p->in, i)))
            memcpy(to + size * kept++, (const char *)p->in + size * i, size);
    return kept;
}

static uint64_t count_of(const struct request *r, const void *out, size_t n)
{
    uint64_t kept;
    memcpy(&kept, (const char *)out + place_of_count(r, n), sizeof kept);
    return kept;
}

static size_t size_compared;

static int compare_bytes(const void *a, const void *b) { return memcmp(a, b, size_compared); }

/* A copy of `count` elements in an order that does not depend on theirs. */
static void *sorted(const void *elements, size_t count, size_t size)
{
    void *copy = allocated(malloc(count * size + 1));
    memcpy(copy, elements, count * size);
    size_compared = size;
    qsort(copy, count, size, compare_bytes);
    return copy;
}

static void compare(struct verdict *v, const struct problem *p, const char *out, const char *want,
                    size_t kept)
{
    size_t size = element_size(p->element);
    v->checked = kept;
    for (size_t i = 0; i < kept; i++)
        if (memcmp(out + i * size, want + i * size, size) != 0)
            verdict_note_element(v, i, p->element, out, i, want + i * size);
}

static void compare_counts(struct verdict *v, size_t n, uint64_t got, size_t want)
{
    if (got == want) return;
    struct mismatch *m = verdict_note(v, n);
    snprintf(m->got, sizeof m->got, "%llu kept", (unsigned long long)got);
    snprintf(m->want, sizeof m->want, "%zu kept", want);
    snprintf(v->cause, sizeof v->cause, "the number of kept elements is wrong");
}

/* Nothing may be written after the elements that are kept, up to the count. */
static void check_rest(struct verdict *v, size_t size, const char *out, size_t kept, size_t end)
{
    for (size_t at = kept * size; at < end; at++) {
        if ((unsigned char)out[at] == VERIFY_POISON) continue;
        struct mismatch *m = verdict_note(v, at / size);
        if (m) strcpy(m->got, "written"), strcpy(m->want, "left as it was");
        snprintf(v->cause, sizeof v->cause, "something is stored behind the last kept element");
        return;
    }
}

static void compare_all(struct verdict *v, const struct subject *s, const struct problem *p,
                        const char *out, const char *want, size_t kept)
{
    size_t size = element_size(p->element);
    bool any_order = s->options->variant == ATOMIC;
    compare_counts(v, p->n, count_of(s->self, out, p->n), kept);
    char *own = any_order ? sorted(out, kept, size) : NULL;
    char *other = any_order ? sorted(want, kept, size) : NULL;
    compare(v, p, own ? own : out, other ? other : want, kept);
    free(own);
    free(other);
    check_rest(v, size, out, kept, place_of_count(s->self, p->n));
}

static int judge(const struct subject *s, const struct problem *p, struct result *result,
                 struct verdict *v, struct fault *fault)
{
    struct request *r = s->self;
    const void *out;
    int code = result_whole(result, &out, fault);
    if (code) return code;
    char *want = allocated(malloc(p->n * element_size(p->element) + 1));
    r->kept =
        r->grep ? keep_lines(&r->search, want, p->in, p->n) : keep_numbers(&r->predicate, want, p);
    compare_all(v, s, p, out, want, r->kept);
    free(want);
    return 0;
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Every element is read once, and those that are kept are written once. */
static double least_bytes(const struct request *r, size_t n)
{
    return (double)element_size(r->element) * ((double)n + (double)r->kept);
}

/* The document's kernels read the elements twice, and write and read flags (twice) and places, of
 * four bytes each. --grep finds lines before that: newlines (1 byte) are written and read, places
 * (4) written and read twice, marks cleared and read, the text read twice, flags written and read.
 * The second reading of a place happens only where the text is found, so this counts at most 4 too
 * many. */
static double moved_bytes(const struct request *r, size_t n, int variant)
{
    double moved = least_bytes(r, n), elements = (double)n;
    if (variant == DOCUMENT) moved += elements * (double)(element_size(r->element) + 5 * 4);
    if (r->grep) moved += elements * (2 + 3 * 4 + 2 + 2 + 2);
    return moved;
}

static void describe(const struct subject *s, size_t n, struct description *d)
{
    const struct request *r = s->self;
    d->least_bytes = least_bytes(r, n);
    d->moved_bytes = moved_bytes(r, n, s->options->variant);
    snprintf(d->result, sizeof d->result, "%llu %s kept", (unsigned long long)r->kept,
             r->grep ? "bytes" : "elements");
}

/* ---- the output ------------------------------------------------------------------------------ */

static int write(const struct subject *s, const struct input *input, struct result *result,
                 struct fault *fault)
{
    const struct request *r = s->self;
    const char *path = s->options->output;
    struct output output;
    const void *out;
    int code = result_whole(result, &out, fault);
    if (code) return code;
    uint64_t kept = count_of(r, out, input->n);
    code = r->grep ? output_begin_bytes(&output, path, fault)
                   : output_begin(&output, path, input->element, kept, fault);
    if (!code) code = output_add(&output, out, kept, fault);
    return code ? code : output_end(&output, fault);
}

static const char *const unused[] = {"inclusive", "in-place", NULL};

static const struct verbs verbs = {
    .open = request_open,
    .close = free,
    .plan = request_plan,
    .input = request_input,
    .needs = needs,
    .launch = launch,
    .judge = judge,
    .write = write,
    .describe = describe,
    .experiment = "13-selects",
    .unused = unused,
};

const struct step step13 = {
    .number = 13,
    .name = "compaction",
    .title = "Stream compaction: keep what a predicate keeps",
    .teaches = "a scan of 0s and 1s gives each kept element its place",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .clear_workspace = true,
    .options = request_options,
    .verbs = &verbs,
};
