/* Step 15's descriptor: radix sort, as the document describes it and as one would write
 * it today. */
#include "common/harness/input/input.h"
#include "common/step/step.h"
#include "steps/15-radix-sort/document.h"
#include "steps/15-radix-sort/parts/shape.h"
#include "request.h"
#include "steps/15-radix-sort/parts/shape_report.h"
#include "steps/15-radix-sort/sort.h"

#include <string.h>

enum { FAST, DOCUMENT, BITONIC };
static const char *const variants[] = {"fast", "document", "bitonic", NULL};

/* How a variant other than FAST sorts its chunks. */
static enum chunks chunks_of(int variant)
{
    return variant == BITONIC ? CHUNKS_BITONIC : CHUNKS_SPLIT;
}

/* ---- calls of the library -------------------------------------------------------------------- */

struct call {
    void *workspace;
    size_t *bytes;
    void *out;
    uint32_t *values;
    const void *in;
    size_t n;
    cudaStream_t stream;
};

static enum sort_order order_asked(void)
{
    return sort_request.descending ? SORT_DESCENDING : SORT_ASCENDING;
}

/* The values of pairs are the indices of the keys. */
static cudaError_t call(struct call c)
{
    enum sort_order order = order_asked();
#define CALL(type)                                                                                 \
    sort_request.pairs ? sort_pairs_##type(c.workspace, c.bytes, c.out, c.values, c.in, NULL, c.n, \
                                           order, c.stream)                                        \
                       : sort_keys_##type(c.workspace, c.bytes, c.out, c.in, c.n, order, c.stream)
    switch (sort_request.element) {
    case ELEMENT_I32: return CALL(i32);
    case ELEMENT_F32: return CALL(f32);
    case ELEMENT_U64: return CALL(u64);
    case ELEMENT_I64: return CALL(i64);
    case ELEMENT_F64: return CALL(f64);
    default: return CALL(u32);
    }
#undef CALL
}

/* ---- the step -------------------------------------------------------------------------------- */

static size_t key_bytes(void) { return element_size(sort_request.element); }
static size_t value_bytes(void) { return sort_request.pairs ? sizeof(uint32_t) : 0; }

static size_t step15_workspace(size_t n, int variant)
{
    size_t bytes = 0;
    if (variant != FAST) return sort_document_workspace(n, sort_request.element);
    return call((struct call){.bytes = &bytes, .n = n}) ? 0 : bytes;
}

static cudaError_t step15_sort(void *out, const void *in, size_t n, int variant, void *workspace,
                               cudaStream_t stream)
{
    size_t bytes = step15_workspace(n, variant);
    if (variant != FAST)
        return sort_document(chunks_of(variant), sort_request.element, workspace, out, in, n,
                             order_asked(), stream);
    uint32_t *values = (uint32_t *)((char *)out + n * key_bytes());
    return call((struct call){.workspace = workspace,
                              .bytes = &bytes,
                              .out = out,
                              .values = values,
                              .in = in,
                              .n = n,
                              .stream = stream});
}

/* On Hopper, if it grants clusters of 16 blocks. */
static struct resident_shape resident(size_t n) { return resident_shape(n, CLUSTER_MOST); }

/* A block of split has its chunk of keys, as many counts, a sum for each warp, and a total. */
static size_t document_shared(void)
{
    size_t counts = SPLIT_CHUNK + SPLIT_THREADS / LANES + 1;
    size_t bytes = SPLIT_CHUNK * key_bytes() + counts * sizeof(unsigned);
    return (bytes + 15) / 16 * 16;
}

/* Of the first launch, which sorts chunks. */
static struct launch_shape document_shape(size_t n, int variant)
{
    size_t chunk = variant == BITONIC ? BITONIC_CHUNK : SPLIT_CHUNK;
    return (struct launch_shape){.grid = (n + chunk - 1) / chunk,
                                 .block = variant == BITONIC ? BITONIC_THREADS : SPLIT_THREADS,
                                 .shared_bytes = variant == BITONIC ? 0 : document_shared(),
                                 .launches = 1 + sort_document_levels(n, chunks_of(variant))};
}

static struct launch_shape step15_shape(size_t n, int variant)
{
    if (variant != FAST) return document_shape(n, variant);
    return sort_shape(n, key_bytes(), sort_request.pairs);
}

/* ---- the application ------------------------------------------------------------------------- */

static int check_request(const struct options *options, struct fault *fault)
{
    if (options->variant != FAST && (sort_request.pairs || sort_request.lines))
        return fail(fault, EXIT_USAGE, "%s: variant %s sorts keys alone; variant fast has it.",
                    sort_request.pairs ? "--pairs" : "--lines", variants[options->variant]);
    if (sort_request.lines && (sort_request.pairs || options->round))
        return fail(fault, EXIT_USAGE, "--lines has no use for %s; leave it out.",
                    sort_request.pairs ? "--pairs" : "--round");
    if (sort_request.lines && sort_request.typed)
        return fail(fault, EXIT_USAGE, "--lines and --type exclude each other.");
    if (sort_request.lines && !options->input)
        return fail(fault, EXIT_USAGE, "--lines sorts a text file; add --input FILE.");
    if (sort_request.values && !options->output)
        return fail(fault, EXIT_USAGE, "--values goes with the sorted keys; add --output FILE.");
    if (sort_request.values && (!sort_request.pairs || sort_request.lines))
        return fail(fault, EXIT_USAGE,
                    "--values: keys alone have no values; add --pairs, without --lines.");
    return sort_request.values ? output_check(sort_request.values, fault) : 0;
}

/* The values of pairs are places of 32 bits. */
static int check_count(size_t n, struct fault *fault)
{
    if (!sort_request.pairs || n <= UINT32_MAX) return 0;
    return fail(fault, EXIT_USAGE, "--pairs takes at most 2^32 - 1 keys; these are %zu.", n);
}

static int step15_plan(struct input *input, const struct options *options, struct fault *fault)
{
    int code = check_request(options, fault);
    *input = (struct input){.element = sort_request.element, .n = options->n};
    return code ? code : check_count(input->n, fault);
}

static int step15_input(struct input *input, const struct options *options, struct fault *fault)
{
    int code = check_request(options, fault);
    if (code) return code;
    if (sort_request.lines) {
        sort_request.pairs = true;
        code = sort_lines_read(input, options->input, fault);
    } else if (options->input) {
        if (!sort_request.typed) input_npy_type(options->input, &sort_request.element);
        code = input_read(input, sort_request.element, options->input, 0, options->round, fault);
    } else {
        code = input_generate_bits(input, sort_request.element, options->n, options->seed, fault);
    }
    sort_request.element = input->element;
    if (!code) {
        code = check_count(input->n, fault);
        if (code) input_free(input);
    }
    return code;
}

/* "" for numbers of a file: then the harness says it. */
static void step15_about_input(char *text, size_t size, const struct options *options)
{
    if (options->input && !sort_request.lines) return;
    if (sort_request.lines)
        snprintf(text, size, "the lines of %s, by their first 8 bytes",
                 strcmp(options->input, "-") ? "a text file" : "stdin");
    else
        snprintf(text, size, "random bits as %s, seed %llu", element_plural(sort_request.element),
                 (unsigned long long)options->seed);
}

static void step15_result(char *text, size_t size)
{
    snprintf(text, size, "the %s key first%s", sort_request.descending ? "largest" : "smallest",
             sort_request.pairs ? ", each with the place where it was" : "");
}

static size_t step15_output_bytes(size_t n, int variant)
{
    (void)variant;
    return n * (key_bytes() + value_bytes());
}

static int write_array(const char *path, enum element element, const void *array, size_t n,
                       struct fault *fault)
{
    struct output output;
    int code = output_begin(&output, path, element, n, fault);
    if (!code) code = output_add(&output, array, n, fault);
    return code ? code : output_end(&output, fault);
}

static int step15_write(const struct options *options, const struct input *input, const void *out,
                        struct fault *fault)
{
    const void *values = (const char *)out + input->n * key_bytes();
    if (sort_request.lines) return sort_lines_write(options, values, input->n, fault);
    int code = write_array(options->output, input->element, out, input->n, fault);
    if (!code && sort_request.values)
        code = write_array(sort_request.values, ELEMENT_U32, values, input->n, fault);
    return code;
}

/* Keys are read and written; values that are indices are only written. */
static double step15_least_bytes(size_t n, int variant)
{
    (void)variant;
    return (double)n * (double)(2 * key_bytes() + value_bytes());
}

/* If no pass is left out, and without the states of tiles. */
static double step15_moved_bytes(size_t n, int variant)
{
    double pass = 2.0 * (double)(key_bytes() + value_bytes());
    if (variant != FAST)
        return step15_least_bytes(n, variant) * (1 + sort_document_levels(n, chunks_of(variant)));
    if (resident(n).blocks) return step15_least_bytes(n, variant);
    return (double)n *
           ((double)key_bytes() + PASSES((double)key_bytes()) * pass - (double)value_bytes());
}

static size_t own_files(struct application_file files[APPLICATION_FILES])
{
    files[0] = (struct application_file){"--values", sort_request.values, true};
    return 1;
}

static const char *const unused[] = {"real", NULL}; /* random keys are random bits */

static const struct application step15_application = {
    .experiment = "15-against-cub",
    .unused = unused,
    .own_files = own_files,
    .plan = step15_plan,
    .input = step15_input,
    .output_bytes = step15_output_bytes,
    .verify = sort_verify,
    .write = step15_write,
    .least_bytes = step15_least_bytes,
    .moved_bytes = step15_moved_bytes,
    .result = step15_result,
    .about_input = step15_about_input,
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
    .scan = step15_sort,
    .shape = step15_shape,
    .workspace = step15_workspace,
    .options = sort_options,
    .application = &step15_application,
};
