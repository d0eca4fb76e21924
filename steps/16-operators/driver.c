/* Step 16's descriptor: a scan with any associative operator, of sequences of any lengths. */
#include "common/harness/print/print.h"
#include "common/harness/run/runs.h"
#include "request.h"
#include "steps/15-radix-sort/sort.h"

#include <stdio.h>

/* An address for arrays that no kernel reads or writes. */
#define NOWHERE ((size_t)1 << 20)

/* The buffer of results is displaced by multiples of this: the widest result. */
#define WIDEST_RESULT sizeof(double)

/* ---- calls of the library -------------------------------------------------------------------- */

static struct scan_options options_for_scan(const struct request *r)
{
    return (struct scan_options){
        .inclusive = r->inclusive,
        .reverse = r->reverse,
        .row = r->rows && r->along == 1 ? r->columns : 0,
        .columns = r->rows && r->along == 0 ? r->columns : 0,
        .kind = r->kind,
        .heads = r->heads_on_device.data,
        .count = r->kind == SCAN_HEADS_OFFSETS ? r->head_count : 0,
        .initial = r->initial ? &r->initial_value : NULL,
    };
}

/* Arguments of a function of scan.h. */
struct arguments {
    const struct request *request;
    void *workspace;
    size_t *bytes;
    void *out;
    const void *in, *second;
    size_t n;
    const struct scan_options *options;
    cudaStream_t stream;
};

/* The arguments before n are special to the operator. */
#define CALL(name, ...)                                                                            \
    scan_##name(a->workspace, a->bytes, a->out, a->in, __VA_ARGS__ a->n, a->options, a->stream)

static cudaError_t call_real(const struct arguments *a)
{
    struct decay d = operators_decay(a->request);
    bool single = a->request->element == ELEMENT_F32;
    switch (a->request->plain) {
    case OP_LOGSUMEXP: return single ? CALL(logsumexp_f32, ) : CALL(logsumexp_f64, );
    case OP_AFFINE: return single ? CALL(affine_f32, a->second, ) : CALL(affine_f64, a->second, );
    default:
        return single ? CALL(decay_f32, (float)d.keep, (float)d.take, )
                      : CALL(decay_f64, d.keep, d.take, );
    }
}

static cudaError_t call_product(const struct arguments *a)
{
    switch (a->request->element) {
    case ELEMENT_F32: return CALL(product_f32, );
    case ELEMENT_F64: return CALL(product_f64, );
    default: return CALL(product_i64, );
    }
}

#define FOUR_TYPES(name)                                                                           \
    switch (a->request->element) {                                                                 \
    case ELEMENT_F32: return CALL(name##_f32, );                                                   \
    case ELEMENT_F64: return CALL(name##_f64, );                                                   \
    case ELEMENT_I32: return CALL(name##_i32, );                                                   \
    default: return CALL(name##_i64, );                                                            \
    }
static cudaError_t call_sum(const struct arguments *a) { FOUR_TYPES(sum) }
static cudaError_t call_max(const struct arguments *a) { FOUR_TYPES(max) }
static cudaError_t call_min(const struct arguments *a) { FOUR_TYPES(min) }

static cudaError_t call(const struct arguments *a)
{
    const struct request *r = a->request;
    switch (r->plain) {
    case OP_SUM: return call_sum(a);
    case OP_PRODUCT: return call_product(a);
    case OP_MAX: return call_max(a);
    case OP_MIN: return call_min(a);
    case OP_XOR: return r->element == ELEMENT_U32 ? CALL(xor_u32, ) : CALL(xor_u64, );
    case OP_BRACKETS:
        return r->partners
                   ? scan_bracket_partners(a->workspace, a->bytes, a->out, a->in, a->n, a->stream)
                   : CALL(brackets, );
    case OP_SIGHT: return CALL(sight_f32, a->second, r->eye, );
    default: return call_real(a);
    }
}

/* ---- the step -------------------------------------------------------------------------------- */

static size_t workspace(const struct request *r, size_t n)
{
    struct scan_options options = options_for_scan(r);
    size_t bytes = 0;
    options.heads = (void *)NOWHERE; /* the heads may not be there yet, and are not read */
    const struct arguments a = {.request = r, .bytes = &bytes, .n = n, .options = &options};
    return call(&a) ? 0 : bytes;
}

static cudaError_t scan(const struct request *r, const struct scan_options *options,
                        const struct call *c)
{
    size_t bytes = workspace(r, c->n);
    const struct arguments a = {.request = r,
                                .workspace = c->workspace,
                                .bytes = &bytes,
                                .out = c->out,
                                .in = c->in,
                                .second = r->second_on_device.data,
                                .n = c->n,
                                .options = options,
                                .stream = c->stream};
    return call(&a);
}

static cudaError_t launch(const struct subject *s, const struct call *c)
{
    struct scan_options options = options_for_scan(s->self);
    return scan(s->self, &options, c);
}

/* ---- the result ------------------------------------------------------------------------------ */

static size_t result_bytes(const struct request *r) { return element_size(r->result); }

static struct needs needs(const struct subject *s, size_t n)
{
    const struct request *r = s->self;
    return (struct needs){.result = n * result_bytes(r),
                          .result_element = WIDEST_RESULT,
                          .workspace = workspace(r, n),
                          .own = operators_own_bytes(r, n)};
}

static void judge(const struct subject *s, const struct problem *problem, const void *out,
                  struct verdict *verdict)
{
    struct request *r = s->self;
    if (r->partners)
        operators_judge_partners(problem, out, verdict, &r->found);
    else
        operators_judge(r, problem, out, verdict, &r->found);
}

static int write(const struct subject *s, const struct input *input, const void *out,
                 struct fault *fault)
{
    const struct request *r = s->self;
    return output_array(s->options->output, r->result, out, input->n, fault);
}

/* Every array once. */
static double least_bytes(const struct request *r, size_t n)
{
    size_t inputs = operator_facts[r->plain].second ? 2 : 1;
    return (double)n * (double)(inputs * element_size(r->element) + result_bytes(r)) +
           (double)r->head_bytes;
}

/* Each character goes through a scan, a kernel that makes its depth a level, a sort of the levels
 * with their indices, and a kernel that makes partners. The sort has a pass for each byte of the
 * greatest level. */
static double partners_moved_bytes(const struct request *r, size_t n,
                                   const struct launches *launches)
{
    bool resident = launches_have(launches, "sort_resident"); /* keys stay from pass to pass */
    double scan = 1 + 4, levels = 1 + 4 + 4, partners = 1 + 4 + 4 + 4, sort = 4 + 8;
    size_t most = resident ? 0 : r->found.greatest >> 8;
    if (launches_have(launches, "count_digits")) sort += 4; /* digits are counted before */
    for (; most > 0; most >>= 8) sort += 8 + 8;
    return (double)n * (scan + levels + partners + sort);
}

/* Without the states of tiles. Offsets become bits: these are cleared, set and read. A bit that is
 * set is counted as a word that is read and written. */
static double moved_bytes(const struct request *r, size_t n, const struct launches *launches)
{
    bool offsets = r->kind == SCAN_HEADS_OFFSETS;
    double bits = offsets ? (double)n / 4 + 8 * (double)r->head_count : 0;
    return r->partners ? partners_moved_bytes(r, n, launches) : least_bytes(r, n) + bits;
}

/* ---- what the report says -------------------------------------------------------------------- */

static void about_shape(const struct request *r, char *text, size_t size)
{
    size_t count = r->along ? r->rows : r->columns, each = r->along ? r->columns : r->rows;
    if (r->rows)
        snprintf(text, size, "%s %s%s of %s element%s", format_count(count).s,
                 r->along ? "row" : "column", plural(count), format_count(each).s, plural(each));
    else if (r->kind != SCAN_HEADS_NONE && r->every == 1)
        snprintf(text, size, "sequences by %s, each of 1 element", head_names[r->kind]);
    else if (r->kind != SCAN_HEADS_NONE)
        snprintf(text, size, "sequences by %s, about one in %s elements", head_names[r->kind],
                 format_count(r->every ? r->every : EVERY_DEFAULT).s);
    else
        snprintf(text, size, "one sequence");
}

static void about_operator(const struct request *r, char *text, size_t size)
{
    char shape[100], keep[40] = "";
    about_shape(r, shape, sizeof shape);
    if (r->plain == OP_EMA || r->plain == OP_DISCOUNT)
        snprintf(keep, sizeof keep, " keeping %g", r->keep);
    if (r->partners) {
        snprintf(text, size, "partners of brackets; all kinds count as one");
        return;
    }
    snprintf(text, size, "%s%s of %s, %s, %s, %s", operator_facts[r->op].name, keep,
             r->plain == OP_BRACKETS ? "characters" : element_plural(r->element), shape,
             r->reverse ? "in reverse" : "forwards", r->inclusive ? "inclusive" : "exclusive");
}

/* Depths or pairs, and then where the text first goes wrong. */
static void about_brackets(const struct request *r, char *text, size_t size)
{
    const struct findings *f = &r->found;
    if (f->greatest == 0 && !f->wrong) {
        snprintf(text, size, "no brackets");
        return;
    }
    int used = r->partners
                   ? snprintf(text, size, "%s pair%s of brackets; ", format_count(f->pairs).s,
                              plural(f->pairs))
                   : snprintf(text, size, "greatest depth %s; ", format_count(f->greatest).s);
    text += used, size -= (size_t)used;
    if (f->mixed) {
        used =
            snprintf(text, size, "line %zu, column %zu: %c closes %c of line %zu, column %zu%s",
                     f->closing_at.line, f->closing_at.column, f->mixed_closing, f->mixed_opening,
                     f->opening_at.line, f->opening_at.column, f->wrong ? "; " : "");
        text += used, size -= (size_t)used;
    }
    if (f->wrong)
        snprintf(text, size, "line %zu, column %zu closes a bracket that is not open",
                 f->wrong_at.line, f->wrong_at.column);
    else if (f->mixed)
        return;
    else if (f->open)
        snprintf(text, size, "%s bracket%s left open at the end", format_count(f->open).s,
                 plural(f->open));
    else
        snprintf(text, size, "every bracket is closed");
}

static void about_result(const struct request *r, char *text, size_t size)
{
    size_t visible = r->found.visible;
    if (r->plain == OP_SIGHT)
        snprintf(text, size, "%s of %s point%s %s visible", format_count(visible).s,
                 format_count(r->n).s, plural(r->n), visible == 1 || r->n == 1 ? "is" : "are");
    if (r->plain == OP_BRACKETS) about_brackets(r, text, size);
}

static void describe(const struct subject *s, size_t n, struct description *d)
{
    const struct request *r = s->self;
    d->least_bytes = least_bytes(r, n);
    d->moved_bytes = moved_bytes(r, n, d->launches);
    operators_about_input(r, d->input, sizeof d->input, s->options);
    about_operator(r, d->variant, sizeof d->variant);
    about_result(r, d->result, sizeof d->result);
}

static size_t files(const void *self, struct own_file files[OWN_FILES])
{
    files[0] = (struct own_file){"--second", ((const struct request *)self)->second, false};
    return 1;
}

static const char *const unused[] = {"real", "in-place",
                                     NULL}; /* random numbers suit the operator */

static const struct verbs verbs = {
    .open = operators_open,
    .close = operators_close,
    .files = files,
    .plan = operators_plan,
    .input = operators_input,
    .needs = needs,
    .launch = launch,
    .judge = judge,
    .write = write,
    .describe = describe,
    .experiment = "16-rates",
    .unused = unused,
    .files_help = "Operators: sum, product, max, min, xor, logsumexp, affine (h = a h + b), ema "
                  "and discount\n"
                  "(h = keep h + take x), segmented-sum, segmented-max, brackets, line-of-sight.\n"
                  "Files: 1-D .npy or text, as in the other steps; brackets takes any text.\n",
};

const struct step step16 = {
    .number = 16,
    .name = "operators",
    .title = "Any associative operator",
    .teaches = "a scan needs no more than an associative operator and its identity",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .clear_workspace = true,
    .options = operators_options,
    .verbs = &verbs,
};
