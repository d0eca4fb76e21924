/* Step 14's descriptor: how its tables and filters are called, and what is right. */
#include "common/harness/pictures/picture.h"
#include "common/harness/print/print.h"
#include "common/harness/run/runs.h"
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const variants[] = {
    [FAST] = "fast", [DOCUMENT] = "document", [SHUFFLE] = "document-shuffle", NULL};

static void *open_request(void) { return calloc(1, sizeof(struct request)); }

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
    return r->filter ? request_samples(r) * element_size(r->element) : 0;
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

static const void *depths_of(const struct request *r, const void *in)
{
    if (r->filter != FILTER_DEPTH) return NULL;
    return (const char *)in + request_samples(r) * element_size(r->element);
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

static cudaError_t filter_fast(const struct request *r, void *to, const void *table,
                               const void *depths, cudaStream_t stream)
{
    struct sat_size size = r->size;
    bool bytes = r->element == ELEMENT_I8;
    if (!depths)
        return bytes ? sat_box_u8(to, table, size, r->box, stream)
                     : sat_box_u16(to, table, size, r->box, stream);
    return bytes ? sat_blur_u8(to, table, depths, size, r->blur, stream)
                 : sat_blur_u16(to, table, depths, size, r->blur, stream);
}

static cudaError_t filter_document(const struct request *r, void *to, const void *table,
                                   const void *depths, cudaStream_t stream)
{
    if (!depths)
        return sat_document_box(to, table, r->element, r->size, r->box, r->maximum, stream);
    return sat_document_blur(to, table, depths, r->element, r->size, r->blur, r->maximum, stream);
}

static cudaError_t launch(const struct subject *s, const struct call *c)
{
    const struct request *r = s->self;
    void *picture = (char *)c->out + table_bytes(r);
    if (c->n == 0) return cudaSuccess;
    CUDA_TRY(make_table(r, c));
    if (!r->filter) return cudaSuccess;
    return r->variant == FAST ? filter_fast(r, picture, c->out, depths_of(r, c->in), c->stream)
                              : filter_document(r, picture, c->out, depths_of(r, c->in), c->stream);
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
        .picture = r->filter ? (const char *)out + table_bytes(r) : NULL,
        .window = {r->box, depths_of(r, p->in), r->blur},
        .maximum = r->maximum,
    };
    sat_judge(v, &judged);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Every sample is read once, every entry of a table of 32 bits and every filtered sample
 * written. */
static double least_bytes(const struct request *r, size_t n)
{
    return (double)(n * element_size(r->element)) + 4 * (double)request_samples(r) +
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
    double samples = (double)request_samples(r), table = (double)table_bytes(r);
    double sample = (double)element_size(r->element);
    double depths = (double)n * sample - samples * sample, filter = 0;
    if (r->filter) filter = table + depths + (double)picture_bytes(r);
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
    if (r->filter == FILTER_BOX)
        snprintf(text, size, "box filter of %zu x %zu pixels", r->box, r->box);
    else if (r->filter == FILTER_DEPTH)
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

static int write_picture(const struct request *r, const char *path, const void *samples,
                         struct fault *fault)
{
    struct picture p = {.width = r->size.width,
                        .height = r->size.height,
                        .channels = r->size.channels,
                        .bits = r->element == ELEMENT_I8 ? 8 : 16,
                        .maximum = r->maximum,
                        .samples = (void *)(uintptr_t)samples};
    return picture_write(&p, path, fault);
}

static int write(const struct subject *s, const struct input *in, const void *out,
                 struct fault *fault)
{
    const struct request *r = s->self;
    const char *path = s->options->output;
    int code = 0;
    if (r->sum)
        code = table_file_write(r->sum, r->variant, out, in->data, r->element, r->size, fault);
    if (!code && path) code = write_picture(r, path, (const char *)out + table_bytes(r), fault);
    return code;
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

/* ---- a table as a .npy file ------------------------------------------------------------------ */

/* Writes a summed-area table as a .npy file. */

#define HEADER 192 /* bytes, a multiple of 64 as NumPy wants it */

static int write_header(struct output *output, const char *type, struct sat_size size,
                        struct fault *fault)
{
    char header[HEADER + 1], shape[80];
    snprintf(shape, sizeof shape, size.channels == 1 ? "(%zu, %zu)" : "(%zu, %zu, %u)", size.height,
             size.width, size.channels);
    memcpy(header, "\x93NUMPY\x01\x00\xb6\x00", 10); /* version 1.0; 182 bytes follow */
    snprintf(header + 10, sizeof header - 10,
             "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    size_t used = 10 + strlen(header + 10);
    memset(header + used, ' ', HEADER - 1 - used);
    header[HEADER - 1] = '\n';
    return output_add(output, header, HEADER, fault);
}

/* ---- what was lost modulo 2^32 --------------------------------------------------------------- */

static uint64_t white(enum element element)
{
    return element == ELEMENT_I8 ? UINT8_MAX : UINT16_MAX;
}

/* The greatest sum of a channel of the picture. */
static uint64_t largest_sum(const void *pixels, enum element element, struct sat_size size)
{
    uint64_t sums[4] = {0}, largest = 0;
    size_t count = size.width * size.height * size.channels;
    for (size_t i = 0; i < count; i++)
        sums[i % size.channels] +=
            element == ELEMENT_I8 ? ((const uint8_t *)pixels)[i] : ((const uint16_t *)pixels)[i];
    for (unsigned c = 0; c < size.channels; c++)
        if (sums[c] > largest) largest = sums[c];
    return largest;
}

/* The row after `whole`, by the sums of single rows: the difference of two rows of the table. */
static void next_row_by_rows(uint64_t *whole, const uint32_t *row, const uint32_t *above, size_t n)
{
    for (size_t i = 0; i < n; i++) whole[i] += row[i] - (above ? above[i] : 0);
}

/* A row by the sums of single columns: the difference of two neighbouring pixels. */
static void row_by_columns(uint64_t *whole, const uint32_t *row, size_t n, unsigned channels)
{
    for (size_t i = 0; i < n; i++)
        whole[i] =
            i < channels ? row[i] : whole[i - channels] + (uint32_t)(row[i] - row[i - channels]);
}

static int write_whole(struct output *output, const uint32_t *table, enum element element,
                       struct sat_size size, uint64_t *whole, struct fault *fault)
{
    size_t n = size.width * size.channels;
    bool by_rows = size.width <= UINT32_MAX / white(element);
    int code = 0;
    memset(whole, 0, n * sizeof *whole);
    for (size_t y = 0; y < size.height && !code; y++) {
        const uint32_t *row = table + y * n;
        if (by_rows)
            next_row_by_rows(whole, row, y > 0 ? row - n : NULL, n);
        else
            row_by_columns(whole, row, n, size.channels);
        code = output_add(output, whole, n * sizeof *whole, fault);
    }
    return code;
}

/* ---- the document's table -------------------------------------------------------------------- */

static int write_turned(struct output *output, const float *table, struct sat_size size, float *row,
                        struct fault *fault)
{
    int code = 0;
    for (size_t y = 0; y < size.height && !code; y++) {
        float *to = row;
        for (size_t x = 0; x < size.width; x++)
            for (unsigned c = 0; c < size.channels; c++)
                *to++ = table[judge_place(DOCUMENT, size, x, y, c)];
        code = output_add(output, row, (size_t)(to - row) * sizeof *row, fault);
    }
    return code;
}

/* ---- the file -------------------------------------------------------------------------------- */

int table_file_write(const char *path, enum variant variant, const void *table, const void *pixels,
                     enum element element, struct sat_size size, struct fault *fault)
{
    size_t n = size.width * size.channels;
    bool whole = variant == FAST && element != ELEMENT_F32, overflows = false;
    if (whole) overflows = largest_sum(pixels, element, size) > UINT32_MAX;
    if (overflows && size.width > UINT32_MAX / white(element) &&
        size.height > UINT32_MAX / white(element))
        return fail(fault, EXIT_USAGE,
                    "--sum: a picture of more than 65537 pixels of 16 bits in both directions has "
                    "sums that cannot be found again modulo 2^32.");
    void *row = allocated(malloc(n * sizeof(uint64_t)));
    struct output output;
    int code = output_begin_bytes(&output, path, fault);
    if (!code)
        code = write_header(&output, !whole ? "<f4" : overflows ? "<u8" : "<u4", size, fault);
    if (!code && overflows)
        code = write_whole(&output, table, element, size, row, fault);
    else if (!code && variant == FAST)
        code = output_add(&output, table, n * size.height * sizeof(uint32_t), fault);
    else if (!code)
        code = write_turned(&output, table, size, row, fault);
    free(row);
    return code ? code : output_end(&output, fault);
}
