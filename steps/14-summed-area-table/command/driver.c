/* Step 14's descriptor: how its tables and filters are called, and what is right. */
#include "common/step/application.h"
#include "common/harness/pictures/picture.h"
#include "common/step/step.h"
#include "judge.h"
#include "request.h"
#include "steps/14-summed-area-table/step14.h"
#include "table_file.h"

#include <stdio.h>

static const char *const variants[] = {
    [FAST] = "fast", [DOCUMENT] = "document", [SHUFFLE] = "document-shuffle", NULL};

/* ---- memory ---------------------------------------------------------------------------------- */

/* The result: the table, and behind it the filtered picture. Entries have four bytes, whatever they
 * are. */
#define ENTRY sizeof(float)
static size_t table_bytes(int variant) { return judge_entries(variant, sat_request.size) * ENTRY; }

static size_t picture_bytes(void)
{
    return sat_request.filter ? request_samples() * element_size(sat_request.element) : 0;
}

static size_t output_bytes(size_t n, int variant)
{
    (void)n;
    return table_bytes(variant) + picture_bytes();
}

static size_t workspace(size_t n, int variant)
{
    size_t bytes = 0;
    (void)n;
    if (variant != FAST) return sat_document_workspace(sat_request.size);
    sat_u8(NULL, &bytes, NULL, NULL, sat_request.size, NULL);
    return bytes;
}

/* ---- one table, and one filter --------------------------------------------------------------- */

static const void *depths_of(const void *in)
{
    if (sat_request.filter != FILTER_DEPTH) return NULL;
    return (const char *)in + request_samples() * element_size(sat_request.element);
}

static cudaError_t make_table(void *table, const void *in, int variant, void *w,
                              cudaStream_t stream)
{
    struct sat_size size = sat_request.size;
    size_t bytes = workspace(0, variant);
    if (variant != FAST)
        return sat_document_table(table, in, sat_request.element, size, variant == SHUFFLE, w,
                                  stream);
    switch (sat_request.element) {
    case ELEMENT_I8: return sat_u8(w, &bytes, table, in, size, stream);
    case ELEMENT_I16: return sat_u16(w, &bytes, table, in, size, stream);
    default: return sat_f32(w, &bytes, table, in, size, stream);
    }
}

static cudaError_t filter_fast(void *to, const void *table, const void *depths, cudaStream_t stream)
{
    struct sat_size size = sat_request.size;
    bool bytes = sat_request.element == ELEMENT_I8;
    if (!depths)
        return bytes ? sat_box_u8(to, table, size, sat_request.box, stream)
                     : sat_box_u16(to, table, size, sat_request.box, stream);
    return bytes ? sat_blur_u8(to, table, depths, size, sat_request.blur, stream)
                 : sat_blur_u16(to, table, depths, size, sat_request.blur, stream);
}

static cudaError_t filter_document(void *to, const void *table, const void *depths,
                                   cudaStream_t stream)
{
    if (!depths)
        return sat_document_box(to, table, sat_request.element, sat_request.size, sat_request.box,
                                sat_request.maximum, stream);
    return sat_document_blur(to, table, depths, sat_request.element, sat_request.size,
                             sat_request.blur, sat_request.maximum, stream);
}

static cudaError_t step14_scan(void *out, const void *in, size_t n, int variant, void *w,
                               cudaStream_t stream)
{
    void *picture = (char *)out + table_bytes(variant);
    if (n == 0) return cudaSuccess;
    CUDA_TRY(make_table(out, in, variant, w, stream));
    if (!sat_request.filter) return cudaSuccess;
    return variant == FAST ? filter_fast(picture, out, depths_of(in), stream)
                           : filter_document(picture, out, depths_of(in), stream);
}

static struct launch_shape shape(size_t n, int variant)
{
    struct launch_shape shape =
        variant == FAST ? sat_fast_shape(sat_request.size) : sat_document_shape(sat_request.size);
    (void)n;
    if (sat_request.filter) shape.launches++;
    return shape;
}

/* ---- what is right --------------------------------------------------------------------------- */

static int verify(struct verdict *v, const struct problem *p, const struct options *o,
                  const void *out, struct fault *fault)
{
    const struct judged judged = {
        .variant = (enum variant)o->variant,
        .size = sat_request.size,
        .element = sat_request.element,
        .pixels = p->in,
        .table = out,
        .picture = sat_request.filter ? (const char *)out + table_bytes(o->variant) : NULL,
        .window = {sat_request.box, depths_of(p->in), sat_request.blur},
        .maximum = sat_request.maximum,
    };
    return sat_judge(v, &judged, fault);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Every sample is read once, every entry of a table of 32 bits and every filtered sample
 * written. */
static double least_bytes(size_t n, int variant)
{
    (void)variant;
    return (double)(n * element_size(sat_request.element)) + 4 * (double)request_samples() +
           (double)picture_bytes();
}

/*
 * fast: pixels are read twice. For 32 samples a column sum is written, scanned and read. (Tiles of
 * fewer rows have more column sums; this is not counted.) document: the arrays are written, scanned
 * twice, transposed, and interleaved if there are several channels. A filter reads the table: four
 * entries a sample, of which three have been read for a neighbour.
 */
static double moved_bytes(size_t n, int variant)
{
    double samples = (double)request_samples(), table = (double)table_bytes(variant), sample;
    sample = (double)element_size(sat_request.element);
    double depths = (double)n * sample - samples * sample, filter = 0;
    if (sat_request.filter) filter = table + depths + (double)picture_bytes();
    if (variant == FAST) return samples * (2 * sample + 4 + 4 * 4 / 32.0) + filter;
    double moved = samples * (sample + 4 + 4 * sat_document_words(sat_request.size));
    return moved + (sat_request.size.channels > 1 ? samples * 4 + table : 0) + filter;
}

/* The buffers are aligned, except for --offset. */
static void about_variant(char *text, size_t size, const struct options *o)
{
    *text = '\0';
    if (o->variant != SHUFFLE) return;
    const void *pixels = (const void *)(o->offset * element_size(sat_request.element));
    const char *reason = sat_no_shuffle(pixels, sat_request.element, sat_request.size);
    if (reason)
        snprintf(text, size, "kernel deinterleave, without shuffles: %s", reason);
    else
        snprintf(text, size, "kernel deinterleave_by_shuffles: the samples are 8-bit RGB");
}

#define ROUNDED_UP 1.006 /* three digits of a product with this are not less than the number */

static void result(char *text, size_t size)
{
    if (sat_request.filter == FILTER_BOX)
        snprintf(text, size, "box filter of %zu x %zu pixels", sat_request.box, sat_request.box);
    else if (sat_request.filter == FILTER_DEPTH)
        snprintf(text, size, "filters of 1 to %zu pixels across, sharp at depth %u of %u",
                 sat_request.blur.width, sat_request.blur.focus, sat_request.blur.farthest);
    else if (sat_request.element == ELEMENT_F32)
        snprintf(text, size, "an entry's error is at most %.3g times its pixels' magnitudes",
                 ROUNDED_UP * judge_relative_error(sat_request.variant, sat_request.size));
    else
        *text = '\0';
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool writes(const struct options *o) { return o->output || sat_request.sum; }

static int write_picture(const struct options *o, const void *samples, struct fault *fault)
{
    struct picture p = {.width = sat_request.size.width,
                        .height = sat_request.size.height,
                        .channels = sat_request.size.channels,
                        .bits = sat_request.element == ELEMENT_I8 ? 8 : 16,
                        .maximum = sat_request.maximum,
                        .samples = (void *)(uintptr_t)samples};
    return picture_write(&p, o->output, fault);
}

static int write(const struct options *o, const struct input *in, const void *out,
                 struct fault *fault)
{
    int code = 0;
    if (sat_request.sum)
        code = table_file_write(sat_request.sum, (enum variant)o->variant, out, in->data,
                                sat_request.element, sat_request.size, fault);
    if (!code && o->output)
        code = write_picture(o, (const char *)out + table_bytes(o->variant), fault);
    return code;
}

static size_t own_files(struct application_file files[APPLICATION_FILES])
{
    files[0] = (struct application_file){"--depth", sat_request.depth, false};
    files[1] = (struct application_file){"--sum", sat_request.sum, true};
    return 2;
}

static const char *const unused[] = {"round", NULL};

static const struct application application = {
    .experiment = "14-against-npp",
    .unused = unused,
    .plan = sat_request_plan,
    .input = sat_request_input,
    .own_files = own_files,
    .output_bytes = output_bytes,
    .result_element = ENTRY,
    .verify = verify,
    .writes = writes,
    .write = write,
    .least_bytes = least_bytes,
    .moved_bytes = moved_bytes,
    .result = result,
    .about_input = sat_request_about,
    .about_variant = about_variant,
    .files =
        "Files: pictures as PNG, PGM or PPM, of 8 or 16 bits, grey, RGB or RGBA; for --sum also\n"
        "floats, as PFM or .npy. --output writes the filtered picture, --sum the table. Without\n"
        "--input the picture is random, of --size or of --n pixels.\n",
};

const struct step step14 = {
    .number = 14,
    .name = "summed-area-table",
    .title = "Summed-area tables: the sum of any rectangle by four lookups",
    .teaches = "scans of all rows and all columns make filters of any width cost the same",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .variants = variants,
    .scan = step14_scan,
    .shape = shape,
    .workspace = workspace,
    .options = sat_request_options,
    .application = &application,
};
