/* Step 14's descriptor: how its tables and filters are called, and what is right. */
#include "common/harness/pictures/picture.h"
#include "common/harness/print/print.h"
#include "common/harness/run/runs.h"
#include "common/harness/verify/verify.h"
#include "common/step/element.h"
#include "step14.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const variants[] = {
    [FAST] = "fast", [DOCUMENT] = "document", [SHUFFLE] = "document-shuffle", NULL};

static void *open_request(void)
{
    struct request *r = calloc(1, sizeof *r);
    if (r) r->focus = -1;
    return r;
}

static bool has_filter(const struct request *r) { return r->box || r->depth; }

/* ---- memory ---------------------------------------------------------------------------------- */

/* The result: the table, and behind it the filtered picture. Entries have four bytes, whatever they
 * are. */
#define ENTRY sizeof(float)
static size_t table_bytes(const struct request *r)
{
    return judge_entries(r->variant, r->size) * ENTRY;
}

static size_t picture_bytes(const struct request *r)
{
    return has_filter(r) ? sat_samples(r->size) * element_size(r->element) : 0;
}

static size_t workspace(const struct request *r)
{
    size_t bytes = 0;
    if (r->variant != FAST) return sat_document_workspace(r->size);
    sat_u8(NULL, &bytes, NULL, NULL, r->size, NULL);
    return bytes;
}

static struct needs needs(const struct subject *s, size_t n)
{
    const struct request *r = s->self;
    (void)n;
    return (struct needs){.result = table_bytes(r) + picture_bytes(r),
                          .result_element = ENTRY,
                          .workspace = workspace(r)};
}

/* ---- one table, and one filter --------------------------------------------------------------- */

/* The depths lie behind the pixels. */
static struct window window_of(const struct request *r, const void *in)
{
    const void *depths = (const char *)in + sat_samples(r->size) * element_size(r->element);
    return (struct window){r->box, r->depth ? depths : NULL, r->blur};
}

static cudaError_t make_table(const struct request *r, const struct call *c)
{
    struct sat_size size = r->size;
    size_t bytes = workspace(r);
    void *w = c->workspace;
    if (r->variant != FAST)
        return sat_document_table(c->out, c->in, r->element, size, r->variant == SHUFFLE, w,
                                  c->stream);
    switch (r->element) {
    case ELEMENT_I8: return sat_u8(w, &bytes, c->out, c->in, size, c->stream);
    case ELEMENT_I16: return sat_u16(w, &bytes, c->out, c->in, size, c->stream);
    default: return sat_f32(w, &bytes, c->out, c->in, size, c->stream);
    }
}

static cudaError_t filter(const struct request *r, void *to, const void *table, struct window w,
                          cudaStream_t stream)
{
    struct sat_size size = r->size;
    bool bytes = r->element == ELEMENT_I8;
    if (r->variant != FAST)
        return sat_document_filter(to, table, r->element, size, w, r->maximum, stream);
    if (w.depths)
        return bytes ? sat_blur_u8(to, table, w.depths, size, w.focus, stream)
                     : sat_blur_u16(to, table, w.depths, size, w.focus, stream);
    return bytes ? sat_box_u8(to, table, size, w.width, stream)
                 : sat_box_u16(to, table, size, w.width, stream);
}

static cudaError_t launch(const struct subject *s, const struct call *c)
{
    const struct request *r = s->self;
    if (c->n == 0) return cudaSuccess;
    CUDA_TRY(make_table(r, c));
    if (!has_filter(r)) return cudaSuccess;
    return filter(r, (char *)c->out + table_bytes(r), c->out, window_of(r, c->in), c->stream);
}

/* ---- what is right --------------------------------------------------------------------------- */

static void judge(const struct subject *s, const struct problem *p, const void *out,
                  struct verdict *v)
{
    const struct request *r = s->self;
    const struct judged judged = {
        .variant = r->variant,
        .size = r->size,
        .element = r->element,
        .pixels = p->in,
        .table = out,
        .picture = has_filter(r) ? (const char *)out + table_bytes(r) : NULL,
        .window = window_of(r, p->in),
    };
    sat_judge(v, &judged);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Every sample is read once, every entry of a table of 32 bits and every filtered sample
 * written. */
static double least_bytes(const struct request *r, size_t n)
{
    return (double)(n * element_size(r->element)) + 4 * (double)sat_samples(r->size) +
           (double)picture_bytes(r);
}

/*
 * fast: pixels are read twice. For 32 samples a column sum is written, scanned and read. (Tiles of
 * fewer rows have more column sums; this is not counted.) document: the arrays are written, scanned
 * twice, transposed, and interleaved if there are several channels. A filter reads the table: four
 * entries a sample, of which three have been read for a neighbour.
 */
static double moved_bytes(const struct request *r, size_t n)
{
    double samples = (double)sat_samples(r->size), table = (double)table_bytes(r);
    double sample = (double)element_size(r->element);
    double depths = (double)n * sample - samples * sample, filter = 0;
    if (has_filter(r)) filter = table + depths + (double)picture_bytes(r);
    if (r->variant == FAST) return samples * (2 * sample + 4 + 4 * 4 / 32.0) + filter;
    double moved = samples * (sample + 4 + 4 * sat_document_words(r->size));
    return moved + (r->size.channels > 1 ? samples * 4 + table : 0) + filter;
}

/* The buffers are aligned, except for --offset. */
static void about_variant(const struct request *r, const struct options *o, char *text, size_t size)
{
    if (r->variant != SHUFFLE) return;
    const void *pixels = (const void *)(o->offset * element_size(r->element));
    const char *reason = sat_no_shuffle(pixels, r->element, r->size);
    if (reason)
        snprintf(text, size, "kernel deinterleave, without shuffles: %s", reason);
    else
        snprintf(text, size, "kernel deinterleave_by_shuffles: the samples are 8-bit RGB");
}

#define ROUNDED_UP 1.006 /* three digits of a product with this are not less than the number */

static void about_result(const struct request *r, char *text, size_t size)
{
    if (r->box)
        snprintf(text, size, "box filter of %zu x %zu pixels", r->box, r->box);
    else if (r->depth)
        snprintf(text, size, "filters of 1 to %zu pixels across, sharp at depth %u of %u",
                 r->blur.width, r->blur.focus, r->blur.farthest);
    else if (r->element == ELEMENT_F32)
        snprintf(text, size, "an entry's error is at most %.3g times its pixels' magnitudes",
                 ROUNDED_UP * judge_relative_error(r->variant, r->size));
}

static void describe(const struct subject *s, size_t n, struct description *d)
{
    const struct request *r = s->self;
    d->least_bytes = least_bytes(r, n);
    d->moved_bytes = moved_bytes(r, n);
    sat_request_about(r, d->input, sizeof d->input, s->options);
    about_variant(r, s->options, d->variant, sizeof d->variant);
    about_result(r, d->result, sizeof d->result);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* As uint32, or uint64 if a sum reaches 2^32, or float32: height x width, or height x width x
 * channels. The upper halves of a table modulo 2^32 are those of the reference. */
static int write_table(const struct request *r, const uint32_t *table, const void *pixels,
                       struct fault *fault)
{
    struct sat_size size = r->size;
    size_t samples = sat_samples(size), shape[] = {size.height, size.width, size.channels};
    bool is_whole = r->variant == FAST && r->element != ELEMENT_F32;
    enum element type = is_whole ? ELEMENT_U32 : ELEMENT_F32;
    uint32_t *entries = allocated(malloc(samples * sizeof *entries)); /* or the bits of floats */
    double *sums = allocated(malloc(samples * sizeof *sums));
    for (size_t i = 0; i < samples; i++) {
        size_t pixel = i / size.channels;
        entries[i] = table[judge_place(r->variant, size, pixel % size.width, pixel / size.width,
                                       (unsigned)(i % size.channels))];
    }
    if (is_whole) sat_reference(sums, pixels, r->element, size, false);
    for (unsigned c = 1; is_whole && c <= size.channels; c++) /* the largest ones */
        if (sums[samples - c] > UINT32_MAX) type = ELEMENT_U64;

    struct output output;
    int code = output_begin_npy(&output, r->sum, type, shape, size.channels > 1 ? 3 : 2, fault);
    if (!code && type != ELEMENT_U64) code = output_add(&output, entries, samples, fault);
    for (size_t i = 0; i < samples && type == ELEMENT_U64 && !code; i++) {
        uint64_t sum = (uint64_t)sums[i];
        uint64_t whole = sum + (uint64_t)(int32_t)(entries[i] - (uint32_t)sum);
        code = output_add(&output, &whole, 1, fault);
    }
    free(sums);
    free(entries);
    return code ? code : output_end(&output, fault);
}

static int write(const struct subject *s, const struct input *in, const void *out,
                 struct fault *fault)
{
    const struct request *r = s->self;
    struct picture filtered = {.width = r->size.width,
                               .height = r->size.height,
                               .channels = r->size.channels,
                               .bits = r->element == ELEMENT_I8 ? 8 : 16,
                               .maximum = r->maximum,
                               .samples = (char *)(uintptr_t)out + table_bytes(r)};
    int code = r->sum ? write_table(r, out, in->data, fault) : 0;
    return code || !s->options->output ? code : picture_write(&filtered, s->options->output, fault);
}

static size_t files(const void *self, struct own_file files[OWN_FILES])
{
    const struct request *r = self;
    files[0] = (struct own_file){"--depth", r->depth, false};
    files[1] = (struct own_file){"--sum", r->sum, true};
    return 2;
}

static const char *const unused[] = {"inclusive", "in-place", NULL};

static const struct verbs verbs = {
    .open = open_request,
    .close = free,
    .files = files,
    .plan = sat_request_plan,
    .input = sat_request_input,
    .needs = needs,
    .launch = launch,
    .judge = judge,
    .write = write,
    .describe = describe,
    .experiment = "14-against-npp",
    .unused = unused,
    .files_help =
        "Files: pictures as PNG, PGM, PPM or .npy, of 8 or 16 bits, grey, RGB or RGBA; for\n"
        "--sum also floats, as PFM or .npy. --output writes the filtered picture, --sum the\n"
        "table. Without --input the picture is random, of --size or of --n pixels.\n",
};

const struct step step14 = {
    .number = 14,
    .name = "summed-area-table",
    .title = "Summed-area tables: the sum of any rectangle by four lookups",
    .teaches = "scans of all rows and all columns make filters of any width cost the same",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .options = sat_request_options,
    .verbs = &verbs,
};
