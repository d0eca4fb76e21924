/*
 * driver.c — step 14's descriptor and verbs: its options, its input, which is a picture with or
 * without depths, how tables and filters are called, and the files that are written.
 */
#include "common/files/option_table.h"
#include "common/files/visible.h"
#include "common/harness/pictures/picture.h"
#include "common/harness/print/print.h"
#include "common/harness/run/runs.h"
#include "common/harness/verify/verify.h"
#include "step14.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const variants[] = {
    [FAST] = "fast", [DOCUMENT] = "document", [SHUFFLE] = "document-shuffle", NULL};

static void *open_request(void)
{
    struct request *r = allocated(calloc(1, sizeof *r));
    r->focus = -1;
    return r;
}

/* ---- options --------------------------------------------------------------------------------- */

static const char *set_focus(void *self, const char *value)
{
    struct request *r = self;
    bool right = option_real(value, &r->focus) && r->focus >= 0 && r->focus <= 1;
    return right ? NULL : "give a number from 0 (the depth map's black) to 1 (its white).";
}

#define MEMBER(name) offsetof(struct request, name)

#define WRONG_CHANNELS "a picture has 1 channel (grey), 3 (RGB) or 4 (RGBA)."
#define WRONG_BITS     "samples have 8 or 16 bits."
#define WRONG_WIDTH    "give an odd number of pixels: windows lie evenly around their pixel."

static const struct step_option options[] = {
    {"size", "WxH", "size of the random picture, in pixels", VALUE_SIZES, .member = MEMBER(sides),
     .wrong = "give width and height, such as 640x480."},
    {"channels", "C", "channels of the random picture: 1, 3 or 4", VALUE_COUNT,
     .member = MEMBER(channels), .wrong = WRONG_CHANNELS},
    {"bits", "B", "bits per sample of the random picture: 8 or 16", VALUE_COUNT,
     .member = MEMBER(bits), .wrong = WRONG_BITS},
    {"box", "W", "apply a box filter: the mean of the W x W pixels around each", VALUE_COUNT,
     .member = MEMBER(box), .wrong = "give the window's width in pixels, from 1 on."},
    {"depth", "FILE", "apply depth of field; the grey picture FILE has the depths", VALUE_FILE,
     .member = MEMBER(depth)},
    {"focus", "D", "with --depth: the depth in focus, from 0 to 1 (default 0.5)",
     .set = set_focus},
    {"max-width", "W", "with --depth: the largest window, in pixels (default 31)", VALUE_COUNT,
     .member = MEMBER(max_width), .wrong = WRONG_WIDTH},
    {"sum", "FILE", "write the table to FILE, a .npy file", VALUE_FILE, .member = MEMBER(sum)},
    {0},
};

/* ---- options together ------------------------------------------------------------------------ */

static int check(const struct request *r, const struct options *o, struct fault *fault)
{
    size_t c = r->channels, b = r->bits, name = r->sum ? strlen(r->sum) : 0;
    const struct refusal refusals[] = {
        {c > 4 || c == 2, "--channels: " WRONG_CHANNELS},
        {b && b != 8 && b != 16, "--bits: " WRONG_BITS},
        {r->max_width && r->max_width % 2 == 0, "--max-width: " WRONG_WIDTH},
        {r->sum && (name < 5 || strcmp(r->sum + name - 4, ".npy") != 0),
         "--sum: the table is written as .npy; give a name that ends so."},
        {o->input && (*r->sides || c || b),
         "--size, --channels and --bits are about random pictures; leave them or --input out."},
        {*r->sides && o->n_given, "--n and --size exclude each other; both say how large."},
        {o->real && (b || r->box || r->depth),
         "--real: a table of floats takes no --bits, --box and --depth."},
        {r->box && r->depth, "--box and --depth are two filters; leave one out."},
        {!r->depth && (r->focus >= 0 || r->max_width),
         "--focus and --max-width need --depth FILE."},
        {r->depth && !o->input, "--depth needs the picture that it belongs to: --input."},
        {o->output && !r->box && !r->depth,
         "--output takes a filtered picture: add --box W or --depth FILE; the table is written by "
         "--sum FILE.npy."},
        {0},
    };
    return options_refuse(refusals, fault);
}

/* What can only be checked once the picture is known. Windows whose sums may reach 2^32 are
 * refused, since the table is modulo 2^32. */
static int check_filter(const struct request *r, const struct options *o, struct fault *fault)
{
    size_t width = r->window.width;
    bool bytes = r->element == ELEMENT_I8;
    if (!width) return 0;
    if (r->element == ELEMENT_F32)
        return fail(fault, EXIT_USAGE,
                    "%s: %s has floats; filters take 8 or 16 bits, and --sum writes its table.",
                    r->box ? "--box" : "--depth", o->input);
    if (sat_window_overflows(r->size, width, bytes ? UINT8_MAX : UINT16_MAX))
        return fail(fault, EXIT_USAGE,
                    "%s %zu: the sum of a window may reach 2^32 there; with %u bits a sample the "
                    "width is at most %u.",
                    r->box ? "--box" : "--max-width", width, bytes ? 8 : 16, bytes ? 4104 : 256);
    return o->output ? picture_check_path(o->output, r->size.channels, fault) : 0;
}

/* ---- the picture ----------------------------------------------------------------------------- */

#define MAX_WIDTH 31 /* --max-width where it is not given */
#define FOCUS     0.5
#define SUM_MOST  (FLT_MAX / 2)

/* Sets these sizes, and samples of `bits` bits (32: floats). */
static void set_picture(struct request *r, size_t width, size_t height, unsigned channels,
                        unsigned bits)
{
    unsigned white = bits == 8 ? UINT8_MAX : UINT16_MAX;
    double focus = r->focus < 0 ? FOCUS : r->focus;
    r->size = (struct sat_size){width, height, channels};
    r->element = bits == 8 ? ELEMENT_I8 : bits == 16 ? ELEMENT_I16 : ELEMENT_F32;
    r->maximum = white;
    r->window = (struct sat_focus){.focus = (unsigned)(focus * white + 0.5), .farthest = white};
    if (r->depth) r->window.width = r->max_width ? r->max_width : MAX_WIDTH;
    if (r->box) r->window.width = r->box;
}

/* A random picture without its samples: of --size, or n pixels, as wide as the smallest divisor of
 * n with which the picture is at least as wide as high. */
static int choose(struct request *r, struct input *input, const struct options *o,
                  struct fault *fault)
{
    size_t width = r->sides[0], height = r->sides[1];
    if (!width) {
        height = (size_t)sqrt((double)o->n);
        while (height > o->n / height || o->n % height > 0) height--;
        width = o->n / height;
    }
    set_picture(r, width, height, r->channels ? (unsigned)r->channels : 1,
                o->real ? 32 : r->bits ? (unsigned)r->bits : 8);
    *input = (struct input){.element = r->element};
    if (!__builtin_mul_overflow(width, height, &input->n) &&
        !__builtin_mul_overflow(input->n, r->size.channels, &input->n))
        return 0;
    return fail(fault, EXIT_USAGE,
                "%zu x %zu pixels are more than any memory holds; take a smaller picture.", width,
                height);
}

/* A table of floats has finite entries: no pixel is infinite or NaN, and no sum overflows, whatever
 * its rounding. */
static int check_floats(const struct picture *p, const char *name, struct fault *fault)
{
    struct problem pixels = {.element = ELEMENT_F32, .in = p->samples, .n = picture_samples(p)};
    if (p->bits != 32) return 0;
    struct facts facts = facts_of(&pixels);
    if (facts.finite && facts.magnitude <= SUM_MOST) return 0;
    return fail(fault, EXIT_USAGE,
                "%s: a table of floats needs finite pixels, whose magnitudes add up to at most "
                "%.3g.",
                strcmp(name, "-") ? name : "stdin", SUM_MOST);
}

static int check_depth(const char *name, const struct picture *p, const struct picture *depth,
                       struct fault *fault)
{
    bool as_large = depth->width == p->width && depth->height == p->height;
    if (depth->bits != 32 && depth->channels == 1 && as_large) return 0;
    return fail(fault, EXIT_USAGE,
                "%s: a depth map is grey, of 8 or 16 bits, and as large as the picture, which has "
                "%zu x %zu pixels.",
                name, p->width, p->height);
}

/* Depths become as wide as the picture's samples, and use all of their range. */
static void append_depth(const struct request *r, struct input *input, const struct picture *depth)
{
    uint8_t *narrow = (uint8_t *)input->data + sat_samples(r->size);
    uint16_t *wide = (uint16_t *)input->data + sat_samples(r->size);
    const uint8_t *narrow_depth = depth->samples;
    const uint16_t *wide_depth = depth->samples;
    for (size_t i = 0; i < depth->width * depth->height; i++) {
        uint64_t d = depth->bits == 16 ? wide_depth[i] : narrow_depth[i];
        d = (d * r->window.farthest + depth->maximum / 2) / depth->maximum;
        if (r->element == ELEMENT_I16)
            wide[i] = (uint16_t)d;
        else
            narrow[i] = (uint8_t)d;
    }
}

/* The input is the picture, and behind it the depths if there are any. */
static int read_files(struct request *r, struct input *input, const struct options *o,
                      struct fault *fault)
{
    struct picture p, depth = {0};
    int code = picture_read(&p, o->input, fault);
    if (!code) code = check_floats(&p, o->input, fault);
    if (!code && r->depth) code = picture_read(&depth, r->depth, fault);
    if (!code && r->depth) code = check_depth(r->depth, &p, &depth, fault);
    if (!code) {
        size_t samples = picture_samples(&p), depths = depth.width * depth.height;
        set_picture(r, p.width, p.height, p.channels, p.bits);
        r->maximum = p.maximum;
        *input = (struct input){.element = r->element, .n = samples + depths};
        input->data = allocated(malloc(input->n * (p.bits / 8)));
        memcpy(input->data, p.samples, samples * (p.bits / 8));
        append_depth(r, input, &depth);
    }
    picture_free(&p);
    picture_free(&depth);
    return code;
}

static int plan(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    r->variant = (enum variant)s->options->variant;
    int code = check(r, s->options, fault);
    if (!code) code = choose(r, input, s->options, fault);
    return code ? code : check_filter(r, s->options, fault);
}

static int input(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    const struct options *o = s->options;
    int code = o->input ? check(r, o, fault) : plan(s, input, fault);
    r->variant = (enum variant)o->variant;
    if (code) return code;
    if (!o->input)
        return input_generate(input, r->element, input->n, o->real ? RANDOM_UNIFORM : RANDOM_BITS,
                              o->seed, fault);
    code = read_files(r, input, o, fault);
    if (code) return code;
    code = check_filter(r, o, fault);
    if (code) input_free(input);
    return code;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The result: the table, and behind it the filtered picture. */
static size_t picture_bytes(const struct request *r)
{
    return r->window.width ? sat_samples(r->size) * element_size(r->element) : 0;
}

/* Without a workspace, *bytes becomes what fast needs of it. */
static cudaError_t make_table(const struct request *r, const struct call *c, size_t *bytes)
{
    void *w = c->workspace;
    if (r->variant != FAST) return sat_document_table(c->out, c->in, r, w, c->stream);
    switch (r->element) {
    case ELEMENT_I8: return sat_u8(w, bytes, c->out, c->in, r->size, c->stream);
    case ELEMENT_I16: return sat_u16(w, bytes, c->out, c->in, r->size, c->stream);
    default: return sat_f32(w, bytes, c->out, c->in, r->size, c->stream);
    }
}

static struct needs needs(const struct subject *s, size_t n)
{
    const struct request *r = s->self;
    struct needs needs = {.result = sat_table_bytes(r) + picture_bytes(r),
                          .result_element = sizeof(float),
                          .workspace = sat_document_workspace(r->size)};
    (void)n;
    if (r->variant == FAST) make_table(r, &(struct call){0}, &needs.workspace);
    return needs;
}

/* ---- one table, and one filter --------------------------------------------------------------- */

static cudaError_t filter(const struct request *r, void *to, const struct call *c)
{
    const void *depths = (const char *)c->in + sat_samples(r->size) * element_size(r->element);
    bool bytes = r->element == ELEMENT_I8;
    if (r->variant != FAST)
        return sat_document_filter(to, c->out, r->depth ? depths : NULL, r, c->stream);
    if (r->depth)
        return bytes ? sat_blur_u8(to, c->out, depths, r->size, r->window, c->stream)
                     : sat_blur_u16(to, c->out, depths, r->size, r->window, c->stream);
    return bytes ? sat_box_u8(to, c->out, r->size, r->box, c->stream)
                 : sat_box_u16(to, c->out, r->size, r->box, c->stream);
}

static cudaError_t launch(const struct subject *s, const struct call *c)
{
    const struct request *r = s->self;
    size_t bytes = needs(s, c->n).workspace;
    if (c->n == 0) return cudaSuccess;
    CUDA_TRY(make_table(r, c, &bytes));
    return r->window.width ? filter(r, (char *)c->out + sat_table_bytes(r), c) : cudaSuccess;
}

/* For the report, `least`: one sample that is left out may be as small as this. */
static void judge(const struct subject *s, const struct problem *p, const void *out,
                  struct verdict *v)
{
    const struct request *r = s->self;
    v->least = r->element == ELEMENT_F32 ? facts_of(p).least : 1;
    sat_judge(v, r, p->in, out);
}

/* ---- the report ------------------------------------------------------------------------------ */

/*
 * fast: pixels are read twice. For 32 samples a column sum is written, scanned and read. (Tiles of
 * fewer rows have more column sums; this is not counted.) By clusters each strip of the picture is
 * read, and what lies left of it. document: the arrays are written, scanned twice, transposed, and
 * interleaved if there are several channels. A filter reads the table: four entries a sample, of
 * which three have been read for a neighbour.
 */
static double moved_bytes(const struct request *r, size_t n)
{
    double samples = (double)sat_samples(r->size), table = (double)sat_table_bytes(r);
    double sample = (double)element_size(r->element), filter = 0;
    double depths = ((double)n - samples) * sample;
    if (r->window.width) filter = table + depths + (double)picture_bytes(r);
    if (r->variant == FAST && sat_takes_clusters(r->size))
        return sat_pixels_of_clusters(r->size) * sample + table + filter;
    if (r->variant == FAST) return samples * (2 * sample + 4 + 4 * 4 / 32.0) + filter;
    double moved = samples * (sample + 4 + 4 * sat_document_words(r->size));
    return moved + (r->size.channels > 1 ? samples * 4 + table : 0) + filter;
}

static void about_input(const struct request *r, const struct options *o, char *text, size_t size)
{
    static const char *const colors[] = {[1] = "grey", [3] = "RGB", [4] = "RGBA"};
    static const char *const samples[] = {
        [ELEMENT_I8] = "8 bits", [ELEMENT_I16] = "16 bits", [ELEMENT_F32] = "floats"};
    char from[120];
    if (o->input)
        visible(from, sizeof from, strcmp(o->input, "-") ? o->input : "stdin");
    else
        snprintf(from, sizeof from, "%llu", (unsigned long long)o->seed);
    snprintf(text, size, "%zu x %zu pixels, %s, %s, %s%s", r->size.width, r->size.height,
             colors[r->size.channels], samples[r->element], o->input ? "from " : "random, seed ",
             from);
}

#define ROUNDED_UP 1.006 /* three digits of a product with this are not less than the number */

static void about_result(const struct request *r, char *text, size_t size)
{
    if (r->box)
        snprintf(text, size, "box filter of %zu x %zu pixels", r->box, r->box);
    else if (r->depth)
        snprintf(text, size, "filters of 1 to %zu pixels across, sharp at depth %u of %u",
                 r->window.width, r->window.focus, r->window.farthest);
    else if (r->element == ELEMENT_F32)
        snprintf(text, size, "an entry's error is at most %.3g times its pixels' magnitudes",
                 ROUNDED_UP * sat_relative_error(r));
}

/* Every sample is read once, every entry of a table of 32 bits and every filtered sample
 * written. */
static void describe(const struct subject *s, size_t n, struct description *d)
{
    const struct request *r = s->self;
    d->least_bytes = (double)(n * element_size(r->element)) + 4 * (double)sat_samples(r->size) +
                     (double)picture_bytes(r);
    d->moved_bytes = moved_bytes(r, n);
    about_input(r, s->options, d->input, sizeof d->input);
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
    double *sums = allocated(malloc(samples * sizeof *sums));
    if (is_whole) sat_reference(sums, pixels, r->element, size, false);
    for (unsigned c = 1; is_whole && c <= size.channels; c++) /* the largest ones */
        if (sums[samples - c] > UINT32_MAX) type = ELEMENT_U64;

    struct output output;
    int code = output_begin_npy(&output, r->sum, type, shape, size.channels > 1 ? 3 : 2, fault);
    for (size_t i = 0; i < samples && !code; i++) {
        size_t pixel = i / size.channels;
        uint32_t entry = table[sat_place(r, pixel % size.width, pixel / size.width) +
                               i % size.channels]; /* or the bits of a float */
        uint64_t sum = is_whole ? (uint64_t)sums[i] : 0;
        uint64_t whole = sum + (uint64_t)(int32_t)(entry - (uint32_t)sum);
        code = output_add(&output, type == ELEMENT_U64 ? (void *)&whole : &entry, 1, fault);
    }
    free(sums);
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
                               .samples = (char *)(uintptr_t)out + sat_table_bytes(r)};
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
    .plan = plan,
    .input = input,
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
    .options = options,
    .verbs = &verbs,
};
