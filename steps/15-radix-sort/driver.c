/*
 * driver.c — step 15's descriptor and verbs: its options, its input, how its sorts are called, and
 * what is right.
 */
#include "common/harness/print/print.h"
#include "common/harness/run/runs.h"
#include "common/harness/verify/verify.h"
#include "common/step/element.h"
#include "common/step/options.h"
#include "parts/shape.h"
#include "sort.h"
#include "step15.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const variants[] = {"fast", "document", "bitonic", NULL};

#define MEMBER(name) offsetof(struct request, name)

static const struct step_option options[] = {
    {"type", "T",
     "type of the keys: u32, i32, f32, u64, i64 or f64 (default: a .npy file's, or u32)",
     VALUE_TYPE, .member = MEMBER(type),
     .wrong = "this type is unknown; choose u32, i32, f32, u64, i64 or f64.",
     .types = 1 << ELEMENT_U32 | 1 << ELEMENT_I32 | 1 << ELEMENT_F32 | 1 << ELEMENT_U64 |
              1 << ELEMENT_I64 | 1 << ELEMENT_F64},
    {"pairs", NULL, "move a value with each key: the key's place in the input",
     .member = MEMBER(pairs)},
    {"values", "FILE", "with --pairs, write the values: .npy if so named, else text; - is stdout",
     VALUE_FILE, .member = MEMBER(values)},
    {"descending", NULL, "sort the largest key to the front", .member = MEMBER(descending)},
    {"lines", NULL, "sort the lines of the --input file by their bytes", .member = MEMBER(lines)},
    {0}};

static void *open_request(void)
{
    struct request *r = calloc(1, sizeof *r);
    if (r) r->type.element = ELEMENT_U32;
    return r;
}

static void close_request(void *self)
{
    struct request *r = self;
    sort_text_free(&r->text);
    free(r);
}

/* ---- calls of the library -------------------------------------------------------------------- */

static size_t key_bytes(const struct request *r) { return element_size(r->type.element); }
static size_t value_bytes(const struct request *r)
{
    return request_has_values(r) ? sizeof(uint32_t) : 0;
}

/* The values of pairs are the indices of the keys. */
static cudaError_t sort(const struct request *r, const struct call *c, size_t *bytes)
{
    enum sort_order order = (enum sort_order)r->descending;
    uint32_t *values = c->out ? (uint32_t *)((char *)c->out + c->n * key_bytes(r)) : NULL;
#define SORT(type)                                                                                 \
    request_has_values(r)                                                                          \
        ? sort_pairs_##type(c->workspace, bytes, c->out, values, c->in, NULL, c->n, order,         \
                            c->stream)                                                             \
        : sort_keys_##type(c->workspace, bytes, c->out, c->in, c->n, order, c->stream)
    switch (r->type.element) {
    case ELEMENT_I32: return SORT(i32);
    case ELEMENT_F32: return SORT(f32);
    case ELEMENT_U64: return SORT(u64);
    case ELEMENT_I64: return SORT(i64);
    case ELEMENT_F64: return SORT(f64);
    default: return SORT(u32);
    }
#undef SORT
}

static size_t workspace(const struct request *r, size_t n, int variant)
{
    size_t bytes = 0;
    if (variant != FAST) return n * key_bytes(r);
    return sort(r, &(struct call){.n = n}, &bytes) ? 0 : bytes;
}

static struct needs needs(const struct subject *s, size_t n)
{
    const struct request *r = s->self;
    return (struct needs){.result = n * (key_bytes(r) + value_bytes(r)),
                          .result_element = element_size(s->element),
                          .workspace = workspace(r, n, s->options->variant)};
}

static cudaError_t launch(const struct subject *s, const struct call *c)
{
    const struct request *r = s->self;
    int variant = s->options->variant;
    size_t bytes = workspace(r, c->n, variant);
    if (variant == FAST) return sort(r, c, &bytes);
    return sort_document((enum variant)variant, r->type.element, c->workspace, c->out, c->in, c->n,
                         (enum sort_order)r->descending, c->stream);
}

/* ---- the input ------------------------------------------------------------------------------- */

static int check_request(const struct request *r, const struct options *options,
                         struct fault *fault)
{
    const struct refusal refusals[] = {
        {r->lines && r->pairs, "--lines has no use for --pairs; leave it out."},
        {r->lines && r->type.given, "--lines and --type exclude each other."},
        {r->lines && !options->input, "--lines sorts a text file; add --input FILE."},
        {r->values && !options->output, "--values goes with the sorted keys; add --output FILE."},
        {r->values && (!r->pairs || r->lines),
         "--values: keys alone have no values; add --pairs, without --lines."},
        {0}};
    if (options->variant != FAST && request_has_values(r))
        return fail(fault, EXIT_USAGE, "%s: variant %s sorts keys alone; variant fast has it.",
                    r->pairs ? "--pairs" : "--lines", variants[options->variant]);
    return options_refuse(refusals, fault);
}

/* The values of pairs are places of 32 bits. */
static int check_count(const struct request *r, size_t n, struct fault *fault)
{
    if (!request_has_values(r) || n <= UINT32_MAX) return 0;
    return fail(fault, EXIT_USAGE, "--pairs takes at most 2^32 - 1 keys; these are %zu.", n);
}

static int plan(const struct subject *s, struct input *input, struct fault *fault)
{
    const struct request *r = s->self;
    int code = check_request(r, s->options, fault);
    *input = (struct input){.element = r->type.element, .n = s->options->n};
    return code ? code : check_count(r, input->n, fault);
}

static int get(struct request *r, struct input *input, const struct options *o, struct fault *fault)
{
    if (r->lines) return sort_text_read(&r->text, input, o->input, fault);
    if (!o->input) return input_generate(input, r->type.element, o->n, RANDOM_BITS, o->seed, fault);
    if (!r->type.given) input_npy_type(o->input, &r->type.element);
    return input_read(input, r->type.element, o->input, 0, fault);
}

static int input(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    int code = check_request(r, s->options, fault);
    if (!code) code = get(r, input, s->options, fault);
    if (code) return code;
    r->type.element = input->element;
    code = check_count(r, input->n, fault);
    if (code) input_free(input);
    return code;
}

/* ---- what is right --------------------------------------------------------------------------- */

/* The simple sort on the CPU that a result is compared with takes 16 bits at a time, the least
 * significant ones first, and keeps the order of equal keys. So it says for each key and for each
 * value what it has to be. */
enum { BITS = 16, COUNTERS = 1 << BITS };

/* A key as a number whose unsigned order is the one asked for, and where it was. */
struct item {
    uint64_t key;
    size_t index;
};

static uint64_t encoded(const struct problem *p, bool descending, size_t i)
{
    uint64_t key = element_key(p->element, p->in, i);
    return descending ? ~key : key;
}

/* A stable pass by the 16 bits from `shift` on. */
static void sort_pass(struct item *to, const struct item *from, size_t n, unsigned shift)
{
    size_t *start = allocated(calloc(COUNTERS, sizeof *start)), before = 0;
    for (size_t i = 0; i < n; i++) start[from[i].key >> shift & (COUNTERS - 1)]++;
    for (size_t d = 0; d < COUNTERS; d++) {
        size_t count = start[d];
        start[d] = before;
        before += count;
    }
    for (size_t i = 0; i < n; i++) to[start[from[i].key >> shift & (COUNTERS - 1)]++] = from[i];
    free(start);
}

static void compare(struct verdict *v, const struct problem *p, const struct item *sorted,
                    const void *out, bool pairs)
{
    size_t size = element_size(p->element), wrong_values = 0;
    const uint32_t *values = (const uint32_t *)((const char *)out + p->n * size);
    for (size_t i = 0; i < p->n; i++) {
        const char *want = (const char *)p->in + sorted[i].index * size;
        uint32_t index = (uint32_t)sorted[i].index;
        if (memcmp((const char *)out + i * size, want, size) != 0) {
            verdict_note_element(v, i, p->element, out, i, want);
        } else if (pairs && values[i] != index) {
            wrong_values++;
            verdict_note_element(v, i, ELEMENT_U32, values, i, &index);
        }
    }
    if (wrong_values && wrong_values == v->wrong)
        snprintf(v->cause, sizeof v->cause,
                 "all keys are right, but %zu values are not those of their keys, or equal keys "
                 "have changed their order",
                 wrong_values);
}

void sort_judge(const struct subject *s, const struct problem *p, const void *out,
                struct verdict *v)
{
    const struct request *r = s->self;
    struct item *items = allocated(malloc(2 * p->n * sizeof *items));
    struct item *from = items, *to = items + p->n;
    for (size_t i = 0; i < p->n; i++) from[i] = (struct item){encoded(p, r->descending, i), i};
    for (unsigned shift = 0; shift < 8 * element_size(p->element); shift += BITS) {
        sort_pass(to, from, p->n, shift);
        struct item *sorted = to;
        to = from, from = sorted;
    }
    compare(v, p, from, out, request_has_values(r));
    free(items);
}

/* ---- the result ------------------------------------------------------------------------------ */

static size_t files(const void *self, struct own_file files[OWN_FILES])
{
    const struct request *r = self;
    files[0] = (struct own_file){"--values", r->values, true};
    return 1;
}

static int write(const struct subject *s, const struct input *input, const void *out,
                 struct fault *fault)
{
    const struct request *r = s->self;
    const char *path = s->options->output;
    size_t n = input->n;
    const void *values = (const char *)out + n * key_bytes(r);
    if (r->lines) return sort_text_write(&r->text, r->descending, values, n, path, fault);
    int code = output_array(path, input->element, out, n, fault);
    if (!code && r->values) code = output_array(r->values, ELEMENT_U32, values, n, fault);
    return code;
}

/* Keys are read and written; values that are indices are only written. */
static double least_bytes(const struct request *r, size_t n)
{
    return (double)n * (double)(2 * key_bytes(r) + value_bytes(r));
}

/* If no pass is left out, and without the states of tiles and the counts of blocks. */
static double moved_bytes(const struct request *r, size_t n, int variant,
                          const struct launches *launches)
{
    double key = (double)key_bytes(r), value = (double)value_bytes(r);
    if (variant != FAST)
        return least_bytes(r, n) * (1 + sort_document_levels(n, (enum variant)variant));
    if (launches_have(launches, "sort_resident")) return least_bytes(r, n);
    // A wave counts in each pass; otherwise one more launch reads the keys to count them.
    double counted = launches_have(launches, "count_digits") ? key : 0;
    return (double)n * (counted + PASSES(key) * 2 * (key + value) - value);
}

/* Of numbers of a file the harness says what they are. */
static void describe_input(const struct request *r, const struct options *o, char *text,
                           size_t size)
{
    if (r->lines)
        snprintf(text, size, "the lines of %s, by their first 8 bytes",
                 strcmp(o->input, "-") ? "a text file" : "stdin");
    else if (!o->input)
        snprintf(text, size, "random bits as %s, seed %llu", element_plural(r->type.element),
                 (unsigned long long)o->seed);
}

static void describe(const struct subject *s, size_t n, struct description *d)
{
    const struct request *r = s->self;
    d->least_bytes = least_bytes(r, n);
    d->moved_bytes = moved_bytes(r, n, s->options->variant, d->launches);
    describe_input(r, s->options, d->input, sizeof d->input);
    snprintf(d->result, sizeof d->result, "the %s key first%s",
             r->descending ? "largest" : "smallest",
             request_has_values(r) ? ", each with the place where it was" : "");
}

/* Random keys are random bits. */
static const char *const unused[] = {"real", "inclusive", "in-place", NULL};

static const struct verbs verbs = {
    .open = open_request,
    .close = close_request,
    .files = files,
    .plan = plan,
    .input = input,
    .needs = needs,
    .launch = launch,
    .judge = sort_judge,
    .write = write,
    .describe = describe,
    .experiment = "15-against-cub",
    .unused = unused,
};

const struct step step15 = {
    .number = 15,
    .name = "radix-sort",
    .title = "Radix sort",
    .teaches = "for each digit, a scan of its counts gives each key its place",
    .default_n = 1 << 20,
    .element = ELEMENT_U32,
    .clear_workspace = true,
    .variants = variants,
    .options = options,
    .verbs = &verbs,
};
