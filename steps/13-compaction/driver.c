/*
 * driver.c — step 13's descriptor and verbs: its options, its input, which is numbers or the lines
 * of a text, how its compactions are called, and what is right.
 */
#define _GNU_SOURCE /* qsort_r */
#include "common/harness/print/print.h"
#include "common/harness/run/runs.h"
#include "common/harness/verify/verify.h"
#include "common/step/options.h"
#include "step13.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(CONDITION_INTERVALS_MOST == COMPACT_INTERVALS_MOST, "a predicate holds a condition");

static const char *const variants[] = {
    [FAST] = "fast", [DOCUMENT] = "document", [ATOMIC] = "atomic", NULL};

struct request {
    struct type_asked type; /* --type; float if not given */
    size_t offset;          /* --offset in bytes */
    const char *keep;       /* --keep, an expression; NULL: "x > 0" */
    const char *grep;       /* --grep; NULL: numbers, not lines */

    /* Whole only after input(). */
    struct predicate predicate;
    struct search search;

    uint64_t kept; /* of the result that was judged last */
};

/* ---- options --------------------------------------------------------------------------------- */

static const char *set_grep(void *self, const char *value)
{
    struct request *r = self;
    size_t length = strlen(value);
    if (length > TEXT_MOST) return "the text has more than 256 bytes; search for a part of it.";
    if (strchr(value, '\n'))
        return "the text must not contain a newline; lines are searched one by one.";
    r->grep = value;
    memcpy(r->search.text, value, length);
    r->search.length = (unsigned)length;
    return NULL;
}

#define MEMBER(name) offsetof(struct request, name)

static const struct step_option options[] = {
    {"keep", "EXPRESSION", "keep the numbers for which it is true (default: \"x > 0\")",
     .member = MEMBER(keep)},
    {"type", "TYPE", "type of the numbers: f32 (default), f64, i32 or i64", VALUE_TYPE,
     .member = MEMBER(type), .wrong = "the type must be f32, f64, i32 or i64.",
     .types = 1 << ELEMENT_F32 | 1 << ELEMENT_F64 | 1 << ELEMENT_I32 | 1 << ELEMENT_I64},
    {"grep", "TEXT", "keep the lines of the input file that contain TEXT", .set = set_grep},
    {"ignore-case", NULL, "with --grep: ignore the case of the letters a to z",
     .member = MEMBER(search.ignore_case), .letter = 'i'},
    {"invert", NULL, "with --grep: keep the lines without TEXT",
     .member = MEMBER(search.invert), .letter = 'v'},
    {0}};

static int check_together(const struct request *r, const struct options *o, struct fault *fault)
{
    enum element element = r->type.element;
    const struct refusal refusals[] = {
        {r->grep && r->keep, "--grep and --keep exclude each other."},
        {r->grep && !o->input, "--grep searches a file; name it with --input."},
        {r->grep && o->variant == ATOMIC,
         "--grep: variant atomic does not keep the order of bytes; use fast or document."},
        {r->grep && r->type.given, "--type is about numbers; leave it or --grep out."},
        {!r->grep && r->search.ignore_case, "--ignore-case is about lines; add --grep TEXT."},
        {!r->grep && r->search.invert, "--invert is about lines; add --grep TEXT."},
        {o->real && element == ELEMENT_I32, "--real: --type i32 is a type of integers."},
        {o->real && element == ELEMENT_I64, "--real: --type i64 is a type of integers."},
        {0}};
    return options_refuse(refusals, fault);
}

#define TEXT_SIZE ((size_t)INT32_MAX - 1) /* bytes: lines are counted in 32 bits */

/* ---- the input ------------------------------------------------------------------------------- */

int predicate_parse(struct predicate *p, const char *expression, enum element element,
                    struct fault *fault)
{
    struct condition c;
    int code = condition_read(&c, expression, element, "--keep", fault);
    if (code) return code;
    p->count = c.count;
    for (unsigned i = 0; i < c.count; i++)
        p->interval[i] = (struct key_interval){c.interval[i].first,
                                               c.interval[i].last - c.interval[i].first};
    return 0;
}

/* Places are of 32 bits in the document. */
static int check_count(size_t n, const struct options *o, struct fault *fault)
{
    if (o->variant != DOCUMENT || n <= UINT32_MAX) return 0;
    return fail(fault, EXIT_USAGE,
                "%zu elements are more than variant document takes; use --variant fast.", n);
}

static int plan(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    *input = (struct input){.element = r->type.element, .n = s->options->n};
    int code = check_together(r, s->options, fault);
    if (!code && !r->grep)
        code = predicate_parse(&r->predicate, r->keep ? r->keep : "x > 0", input->element, fault);
    return code ? code : check_count(input->n, s->options, fault);
}

static int input(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    const struct options *o = s->options;
    enum element element = r->type.element;
    int code = plan(s, input, fault);
    if (!code)
        code = r->grep    ? input_read_lines(input, o->input, TEXT_SIZE, "--grep",
                                             "there are no lines", fault)
               : o->input ? input_read(input, element, o->input, 0, fault)
                          : input_generate(input, element, o->n, o->real, o->seed, fault);
    if (code) return code;
    r->type.element = input->element;
    r->offset = o->offset * element_size(input->element);
    code = check_count(input->n, o, fault);
    if (code) input_free(input);
    return code;
}

/* ELEMENT_F32 is 0. */
static void *open_request(void) { return calloc(1, sizeof(struct request)); }

/* ---- memory ---------------------------------------------------------------------------------- */

/* The result: room for n elements, and behind them, at the next multiple of 8, how many
 * were kept. */
#define COUNT sizeof(uint64_t)

static size_t result_bytes(const struct request *r, size_t n)
{
    return n * element_size(r->type.element) + 2 * COUNT;
}

/* Where the count is in the result, whose address is displaced by --offset. */
static size_t place_of_count(const struct request *r, size_t n)
{
    size_t end = r->offset + n * element_size(r->type.element);
    return (end + COUNT - 1) / COUNT * COUNT - r->offset;
}

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
    size_t own = padded(compaction_workspace(n, variant));
    return r->grep ? own + padded(lines_workspace(n)) + padded(n) : own;
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
    struct compaction c = {.element = r->type.element,
                           .out = call->out,
                           .kept = (uint64_t *)((char *)call->out + place_of_count(r, n)),
                           .in = call->in,
                           .n = n,
                           .predicate = &r->predicate,
                           .workspace = call->workspace,
                           .bytes = compaction_workspace(n, variant),
                           .stream = call->stream};
    if (r->grep) {
        char *lines = (char *)call->workspace + padded(c.bytes);
        size_t bytes = lines_workspace(n);
        uint8_t *flags = (uint8_t *)lines + padded(bytes);
        CUDA_TRY(flag_lines(flags, call->in, n, &r->search, lines, bytes, call->stream));
        c.flags = flags;
    }
    if (variant == DOCUMENT) return compact_document(&c);
    return variant == ATOMIC ? compact_atomic(&c) : compact_fast(&c);
}

/* ---- what is right --------------------------------------------------------------------------- */

static bool line_has_text(const struct search *s, const char *line, size_t length)
{
    int (*compare)(const char *, const char *, size_t) = s->ignore_case ? strncasecmp : strncmp;
    for (size_t i = 0; i + s->length <= length; i++)
        if (compare(line + i, s->text, s->length) == 0) return true;
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
        if (predicate_keeps(predicate, element_key(p->element, p->in, i)))
            memcpy(to + size * kept++, (const char *)p->in + size * i, size);
    return kept;
}

static uint64_t count_of(const struct request *r, const void *out, size_t n)
{
    uint64_t kept;
    memcpy(&kept, (const char *)out + place_of_count(r, n), sizeof kept);
    return kept;
}

static int compare_bytes(const void *a, const void *b, void *size)
{
    return memcmp(a, b, *(size_t *)size);
}

static void compare_counts(struct verdict *v, size_t n, uint64_t got, uint64_t want)
{
    if (got == want) return;
    struct mismatch *m = verdict_note(v, n);
    snprintf(m->got, sizeof m->got, "%llu kept", (unsigned long long)got);
    snprintf(m->want, sizeof m->want, "%llu kept", (unsigned long long)want);
    snprintf(v->cause, sizeof v->cause, "the number of kept elements is wrong");
}

/* Nothing may be written after the elements that are kept, up to the count. */
static void check_rest(struct verdict *v, size_t size, const unsigned char *out, size_t kept,
                       size_t end)
{
    size_t at = kept * size;
    while (at < end && out[at] == VERIFY_POISON) at++;
    if (at == end) return;
    struct mismatch *m = verdict_note(v, at / size);
    if (m) *m = (struct mismatch){at / size, "written", "left as it was"};
    snprintf(v->cause, sizeof v->cause, "something is stored behind the last kept element");
}

static void judge(const struct subject *s, const struct problem *p, const void *out,
                  struct verdict *v)
{
    struct request *r = s->self;
    size_t size = element_size(p->element), room = p->n * size + 1;
    char *want = allocated(malloc(room)), *got = allocated(malloc(room));
    size_t kept =
        r->grep ? keep_lines(&r->search, want, p->in, p->n) : keep_numbers(&r->predicate, want, p);
    r->kept = v->checked = kept;
    memcpy(got, out, kept * size);
    if (s->options->variant == ATOMIC) { /* any order is right */
        qsort_r(got, kept, size, compare_bytes, &size);
        qsort_r(want, kept, size, compare_bytes, &size);
    }
    compare_counts(v, p->n, count_of(r, out, p->n), kept);
    for (size_t i = 0; i < kept; i++)
        if (memcmp(got + i * size, want + i * size, size) != 0)
            verdict_note_element(v, i, p->element, got, i, want + i * size);
    check_rest(v, size, out, kept, place_of_count(r, p->n));
    free(got);
    free(want);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Every element is read once, and those that are kept are written once. */
static double least_bytes(const struct request *r, size_t n)
{
    return (double)element_size(r->type.element) * ((double)n + (double)r->kept);
}

/* The document's kernels read the elements twice, and write and read flags (twice) and places, of
 * four bytes each. --grep finds lines before that: newlines (1 byte) are written and read, places
 * (4) written and read twice, marks cleared and read, the text read twice, flags written and read.
 * The second reading of a place happens only where the text is found, so this counts at most 4 too
 * many. */
static double moved_bytes(const struct request *r, size_t n, int variant)
{
    double moved = least_bytes(r, n), elements = (double)n;
    if (variant == DOCUMENT) moved += elements * (double)(element_size(r->type.element) + 5 * 4);
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

static int write(const struct subject *s, const struct input *input, const void *out,
                 struct fault *fault)
{
    const struct request *r = s->self;
    const char *path = s->options->output;
    uint64_t kept = count_of(r, out, input->n);
    struct output output;
    if (!r->grep) return output_array(path, input->element, out, kept, fault);
    int code = output_begin_bytes(&output, path, fault);
    if (!code) code = output_add(&output, out, kept, fault);
    return code ? code : output_end(&output, fault);
}

static const char *const unused[] = {"inclusive", "in-place", NULL};

static const struct verbs verbs = {
    .open = open_request,
    .close = free,
    .plan = plan,
    .input = input,
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
    .options = options,
    .verbs = &verbs,
};
