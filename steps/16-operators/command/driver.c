/* Step 16's descriptor: a scan with any associative operator, of sequences of any lengths. */
#include "common/step/application.h"
#include "common/harness/print/format.h"
#include "common/harness/print/output.h"
#include "common/step/step.h"
#include "judge.h"
#include "captured_shape.h"
#include "request.h"
#include "steps/15-radix-sort/sort.h"
#include "steps/16-operators/parts/partners.h"

#include <stdio.h>

/* ---- calls of the library -------------------------------------------------------------------- */

static struct scan_options options_for_scan(void)
{
    const struct operators_request *r = &operators_request;
    return (struct scan_options){
        .inclusive = r->inclusive,
        .reverse = r->reverse,
        .row = r->rows && r->along == 1 ? r->columns : 0,
        .columns = r->rows && r->along == 0 ? r->columns : 0,
        .kind = r->kind,
        .heads = r->heads_on_device,
        .count = r->kind == SCAN_HEADS_OFFSETS ? r->head_count : 0,
        .initial = r->initial ? &r->initial_value : NULL,
    };
}

/* Arguments of a function of scan.h. */
struct call {
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
    scan_##name(c.workspace, c.bytes, c.out, c.in, __VA_ARGS__ c.n, c.options, c.stream)

static cudaError_t call_real(struct call c)
{
    struct decay d = operators_decay();
    bool single = operators_request.element == ELEMENT_F32;
    switch (operators_request.plain) {
    case OP_LOGSUMEXP: return single ? CALL(logsumexp_f32, ) : CALL(logsumexp_f64, );
    case OP_AFFINE: return single ? CALL(affine_f32, c.second, ) : CALL(affine_f64, c.second, );
    default:
        return single ? CALL(decay_f32, (float)d.keep, (float)d.take, )
                      : CALL(decay_f64, d.keep, d.take, );
    }
}

static cudaError_t call_product(struct call c)
{
    switch (operators_request.element) {
    case ELEMENT_F32: return CALL(product_f32, );
    case ELEMENT_F64: return CALL(product_f64, );
    default: return CALL(product_i64, );
    }
}

#define FOUR_TYPES(name)                                                                           \
    switch (operators_request.element) {                                                           \
    case ELEMENT_F32: return CALL(name##_f32, );                                                   \
    case ELEMENT_F64: return CALL(name##_f64, );                                                   \
    case ELEMENT_I32: return CALL(name##_i32, );                                                   \
    default: return CALL(name##_i64, );                                                            \
    }
static cudaError_t call_sum(struct call c) { FOUR_TYPES(sum) }
static cudaError_t call_max(struct call c) { FOUR_TYPES(max) }
static cudaError_t call_min(struct call c) { FOUR_TYPES(min) }

static cudaError_t call(struct call c)
{
    switch (operators_request.plain) {
    case OP_SUM: return call_sum(c);
    case OP_PRODUCT: return call_product(c);
    case OP_MAX: return call_max(c);
    case OP_MIN: return call_min(c);
    case OP_XOR:
        return operators_request.element == ELEMENT_U32 ? CALL(xor_u32, ) : CALL(xor_u64, );
    case OP_BRACKETS:
        return operators_request.partners
                   ? scan_bracket_partners(c.workspace, c.bytes, c.out, c.in, c.n, c.stream)
                   : CALL(brackets, );
    case OP_SIGHT: return CALL(sight_f32, c.second, operators_request.eye, );
    default: return call_real(c);
    }
}

/* ---- the step -------------------------------------------------------------------------------- */

static size_t step16_workspace(size_t n, int variant)
{
    struct scan_options options = options_for_scan();
    size_t bytes = 0;
    (void)variant;
    options.heads = (void *)NOWHERE; /* the heads may not be there yet, and are not read */
    return call((struct call){.bytes = &bytes, .n = n, .options = &options}) ? 0 : bytes;
}

static cudaError_t scan(struct scan_options options, void *out, const void *in, size_t n,
                        void *workspace, cudaStream_t stream)
{
    size_t bytes = step16_workspace(n, 0);
    return call((struct call){.workspace = workspace,
                              .bytes = &bytes,
                              .out = out,
                              .in = in,
                              .second = operators_request.second_on_device,
                              .n = n,
                              .options = &options,
                              .stream = stream});
}

static cudaError_t step16_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                               cudaStream_t stream)
{
    (void)variant;
    return scan(options_for_scan(), out, in, n, workspace, stream);
}

/* The same for captured_shape(): of arrays that lie as those of a run do. Offsets are bits, since
 * the memory for bits of offsets is not there. */
static cudaError_t scan_nothing(void *n, cudaStream_t stream)
{
    char *base = (char *)NOWHERE;
    size_t offset = operators_request.offset;
    struct scan_options options = options_for_scan();
    if (options.kind == SCAN_HEADS_OFFSETS) options.kind = SCAN_HEADS_BITS, options.heads = base;
    return scan(options, base + offset * WIDEST_RESULT,
                base + offset * element_size(operators_request.element), *(size_t *)n, base,
                stream);
}

/* The sort of partners.cu. */
static cudaError_t sort_nothing(void *n, cudaStream_t stream)
{
    size_t count = *(size_t *)n, bytes = 0;
    int32_t *out = (int32_t *)NOWHERE;
    cudaError_t error =
        sort_pairs_i32(NULL, &bytes, NULL, NULL, NULL, NULL, count, SORT_ASCENDING, stream);
    if (error) return error;
    return sort_pairs_i32(out, &bytes, out, (uint32_t *)out, out + count, NULL, count,
                          SORT_ASCENDING, stream);
}

/* A call as a whole would clear memory that is not there, which cannot be captured. A scan and a
 * kernel come before the sort, and the last kernel behind it. */
static struct launch_shape partners_shape(size_t n)
{
    return (struct launch_shape){.grid = (n + PARTNER_THREADS - 1) / PARTNER_THREADS,
                                 .block = PARTNER_THREADS,
                                 .launches = captured_shape(sort_nothing, &n).launches + 3};
}

static struct launch_shape step16_shape(size_t n, int variant)
{
    if (operators_request.partners) return partners_shape(n);
    struct launch_shape shape = captured_shape(scan_nothing, &n);
    (void)variant;
    if (operators_request.kind == SCAN_HEADS_OFFSETS) shape.launches++;
    return shape;
}

/* ---- the application ------------------------------------------------------------------------- */

static size_t result_bytes(void) { return element_size(operators_request.result); }

static size_t step16_output_bytes(size_t n, int variant)
{
    (void)variant;
    return n * result_bytes();
}

static int step16_write(const struct options *options, const struct input *input, const void *out,
                        struct fault *fault)
{
    struct output output;
    int code = output_begin(&output, options->output, operators_request.result, input->n, fault);
    if (!code) code = output_add(&output, out, input->n, fault);
    return code ? code : output_end(&output, fault);
}

/* Every array once. */
static double step16_least_bytes(size_t n, int variant)
{
    size_t inputs = operator_facts[operators_request.plain].second ? 2 : 1;
    (void)variant;
    return (double)n * (double)(inputs * element_size(operators_request.element) + result_bytes()) +
           (double)operators_request.head_bytes;
}

/* Each character goes through a scan, a kernel that makes its depth a level, a sort of the levels
 * with their indices, and a kernel that makes partners. The sort has a pass for each byte of the
 * greatest level. */
static double partners_moved_bytes(size_t n)
{
    const unsigned around_sort = 3; /* launches */
    double scan = 1 + 4, levels = 1 + 4 + 4, partners = 1 + 4 + 4 + 4, sort = 4 + 8;
    if (step16_shape(n, 0).launches > around_sort + 1) {
        sort += 4; /* it counts the digits before */
        for (size_t most = operators_judged.greatest >> 8; most > 0; most >>= 8) sort += 8 + 8;
    }
    return (double)n * (scan + levels + partners + sort);
}

/* Without the states of tiles. Offsets become bits: these are cleared, set and read. A bit that is
 * set is counted as a word that is read and written. */
static double step16_moved_bytes(size_t n, int variant)
{
    double bits = operators_request.kind == SCAN_HEADS_OFFSETS
                      ? (double)n / 4 + 8 * (double)operators_request.head_count
                      : 0;
    if (operators_request.partners) return partners_moved_bytes(n);
    return step16_least_bytes(n, variant) + bits;
}

static void about_shape(char *text, size_t size)
{
    static const char *const kinds[] = {[SCAN_HEADS_BYTES] = "bytes",
                                        [SCAN_HEADS_BITS] = "bits",
                                        [SCAN_HEADS_KEYS] = "keys",
                                        [SCAN_HEADS_OFFSETS] = "offsets"};
    const struct operators_request *r = &operators_request;
    size_t count = r->along ? r->rows : r->columns, each = r->along ? r->columns : r->rows;
    if (r->rows)
        snprintf(text, size, "%s %s%s of %s element%s", format_count(count).s,
                 r->along ? "row" : "column", plural(count), format_count(each).s, plural(each));
    else if (r->kind != SCAN_HEADS_NONE && r->every == 1)
        snprintf(text, size, "sequences by %s, each of 1 element", kinds[r->kind]);
    else if (r->kind != SCAN_HEADS_NONE)
        snprintf(text, size, "sequences by %s, about one in %s elements", kinds[r->kind],
                 format_count(r->every ? r->every : EVERY_DEFAULT).s);
    else
        snprintf(text, size, "one sequence");
}

static void step16_about(char *text, size_t size, const struct options *options)
{
    const struct operators_request *r = &operators_request;
    char shape[100], keep[40] = "";
    about_shape(shape, sizeof shape);
    if (r->plain == OP_EMA || r->plain == OP_DISCOUNT)
        snprintf(keep, sizeof keep, " keeping %g", r->keep);
    if (r->partners) {
        snprintf(text, size, "partners of brackets; all kinds count as one");
        return;
    }
    snprintf(text, size, "%s%s of %s, %s, %s, %s", operator_facts[r->op].name, keep,
             r->plain == OP_BRACKETS ? "characters" : element_plural(r->element), shape,
             r->reverse ? "in reverse" : "forwards",
             options->inclusive ? "inclusive" : "exclusive");
}

/* Depths or pairs, and then where the text first goes wrong. */
static void about_brackets(char *text, size_t size)
{
    const struct operators_judged *f = &operators_judged;
    if (f->greatest == 0 && !f->wrong) {
        snprintf(text, size, "no brackets");
        return;
    }
    int used = operators_request.partners
                   ? snprintf(text, size, "%s pair%s of brackets; ", format_count(f->pairs).s,
                              plural(f->pairs))
                   : snprintf(text, size, "greatest depth %s; ", format_count(f->greatest).s);
    text += used, size -= (size_t)used;
    if (f->mixed) {
        used = snprintf(text, size, "line %zu, column %zu: %c closes %c of line %zu, column %zu%s",
                        f->closing_at.line, f->closing_at.column, f->mixed_closing,
                        f->mixed_opening, f->opening_at.line, f->opening_at.column,
                        f->wrong ? "; " : "");
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

static void step16_result(char *text, size_t size)
{
    const struct operators_judged *f = &operators_judged;
    *text = '\0';
    size_t n = operators_request.n;
    if (operators_request.plain == OP_SIGHT)
        snprintf(text, size, "%s of %s point%s %s visible", format_count(f->visible).s,
                 format_count(n).s, plural(n), f->visible == 1 || n == 1 ? "is" : "are");
    if (operators_request.plain == OP_BRACKETS) about_brackets(text, size);
}

static size_t own_files(struct application_file files[APPLICATION_FILES])
{
    files[0] = (struct application_file){"--second", operators_request.second, false};
    return 1;
}

static const char *const unused[] = {"real", NULL}; /* random numbers suit the operator */

static const struct application step16_application = {
    .experiment = "16-rates",
    .takes_inclusive = true,
    .unused = unused,
    .own_files = own_files,
    .plan = operators_plan,
    .input = operators_input,
    .own_bytes = operators_own_bytes,
    .output_bytes = step16_output_bytes,
    .result_element = WIDEST_RESULT,
    .verify = operators_judge,
    .write = step16_write,
    .least_bytes = step16_least_bytes,
    .moved_bytes = step16_moved_bytes,
    .result = step16_result,
    .about_input = operators_about_input,
    .about_variant = step16_about,
    .files = "Operators: sum, product, max, min, xor, logsumexp, affine (h = a h + b), ema and "
             "discount\n"
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
    .scan = step16_scan,
    .shape = step16_shape,
    .workspace = step16_workspace,
    .options = operators_options,
    .application = &step16_application,
};
