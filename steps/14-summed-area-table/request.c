/*
 * request.c — the options of step 14, which of them go together, and the picture: a file's, or a
 * random one.
 */
#include "common/files/option_table.h"
#include "common/files/visible.h"
#include "common/harness/pictures/picture.h"
#include "common/harness/input/input.h"
#include "common/harness/print/print.h"
#include "common/step/element.h"
#include "step14.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

const struct step_option sat_request_options[] = {
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
    int code = options_refuse(refusals, fault);
    return code || !r->sum ? code : output_check(r->sum, fault);
}

/* What can only be checked once the picture is known. Windows whose sums may reach 2^32 are
 * refused, since the table is modulo 2^32. */
static int check_filter(const struct request *r, const struct options *o, struct fault *fault)
{
    size_t width = r->box ? r->box : r->blur.width;
    size_t across = width < r->size.width ? width : r->size.width;
    size_t down = width < r->size.height ? width : r->size.height;
    bool bytes = r->element == ELEMENT_I8;
    if (!r->box && !r->depth) return 0;
    if (r->element == ELEMENT_F32)
        return fail(fault, EXIT_USAGE,
                    "%s: %s has floats; filters take 8 or 16 bits, and --sum writes its table.",
                    r->box ? "--box" : "--depth", o->input);
    if (down > UINT32_MAX / (bytes ? UINT8_MAX : UINT16_MAX) / across)
        return fail(fault, EXIT_USAGE,
                    "%s %zu: the sum of a window may reach 2^32 there; with %u bits a sample the "
                    "width is at most %u.",
                    r->box ? "--box" : "--max-width", width, bytes ? 8 : 16, bytes ? 4104 : 256);
    return o->output ? picture_check_path(o->output, r->size.channels, fault) : 0;
}

/* ---- the input ------------------------------------------------------------------------------- */

#define MAX_WIDTH 31 /* --max-width where it is not given */
#define FOCUS     0.5
#define SUM_MOST  (FLT_MAX / 2)

/* ---- a random picture ------------------------------------------------------------------------ */

/* --size, or n pixels: as wide as the smallest divisor of n with which the picture is at least as
 * wide as high. */
static void choose_size(struct request *r, const struct options *o)
{
    r->size = (struct sat_size){r->sides[0], r->sides[1], r->channels ? (unsigned)r->channels : 1};
    if (r->size.width) return;
    size_t height = (size_t)sqrt((double)o->n);
    while (height > o->n / height || o->n % height > 0) height--;
    r->size.width = o->n / height;
    r->size.height = height;
}

/* What a random picture is, without its samples. */
static int choose(struct request *r, struct input *input, const struct options *o,
                  struct fault *fault)
{
    struct sat_size *size = &r->size;
    choose_size(r, o);
    r->element = o->real ? ELEMENT_F32 : r->bits == 16 ? ELEMENT_I16 : ELEMENT_I8;
    r->maximum = r->element == ELEMENT_I8 ? UINT8_MAX : UINT16_MAX;
    *input = (struct input){.element = r->element};
    if (__builtin_mul_overflow(size->width, size->height, &input->n) ||
        __builtin_mul_overflow(input->n, size->channels, &input->n))
        return fail(fault, EXIT_USAGE,
                    "%zu x %zu pixels are more than any memory holds; take a smaller picture.",
                    size->width, size->height);
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Depths become as wide as the picture's samples, and use all of their range. */
static void append_depth(struct input *input, size_t at, const struct picture *depth)
{
    bool from = depth->bits == 16, to = input->element == ELEMENT_I16;
    uint64_t white = to ? UINT16_MAX : UINT8_MAX;
    for (size_t i = 0; i < depth->width * depth->height; i++) {
        uint64_t d = from ? ((uint16_t *)depth->samples)[i] : ((uint8_t *)depth->samples)[i];
        d = (d * white + depth->maximum / 2) / depth->maximum;
        if (to)
            ((uint16_t *)input->data)[at + i] = (uint16_t)d;
        else
            ((uint8_t *)input->data)[at + i] = (uint8_t)d;
    }
}

/* A table of floats has finite entries: no pixel is infinite or NaN, and no sum overflows, whatever
 * its rounding. */
static int check_floats(const struct picture *p, const char *name, struct fault *fault)
{
    const float *samples = p->samples;
    size_t row = p->width * p->channels, count = picture_samples(p);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(samples[i]))
            return fail(fault, EXIT_USAGE,
                        "%s: pixel %zu of row %zu is %g; a table of sums needs finite pixels.",
                        name, i % row / p->channels, i / row, (double)samples[i]);
        sum += fabs((double)samples[i]);
    }
    if (sum <= SUM_MOST) return 0;
    return fail(fault, EXIT_USAGE,
                "%s: the magnitudes of its pixels add up to %.3g, and a table of floats holds up "
                "to %.3g; scale them.",
                name, sum, SUM_MOST);
}

static int check_depth(const char *name, const struct picture *p, const struct picture *depth,
                       struct fault *fault)
{
    if (depth->bits == 32)
        return fail(fault, EXIT_USAGE, "%s has floats; a depth map has 8 or 16 bits.", name);
    if (depth->channels != 1)
        return fail(fault, EXIT_USAGE, "%s has %u channels; a depth map is grey.", name,
                    depth->channels);
    if (depth->width != p->width || depth->height != p->height)
        return fail(fault, EXIT_USAGE,
                    "%s is %zu x %zu pixels and the picture %zu x %zu; a depth map has to be as "
                    "large.",
                    name, depth->width, depth->height, p->width, p->height);
    return 0;
}

static int take_picture(struct request *r, struct input *input, const struct picture *p,
                        const struct picture *depth, struct fault *fault)
{
    size_t samples = picture_samples(p);
    r->size = (struct sat_size){p->width, p->height, p->channels};
    r->element = p->bits == 8 ? ELEMENT_I8 : p->bits == 16 ? ELEMENT_I16 : ELEMENT_F32;
    r->maximum = p->maximum;
    *input = (struct input){.element = r->element};
    int code = depth ? check_depth(r->depth, p, depth, fault) : 0;
    if (code) return code;
    input->n = samples + (depth ? p->width * p->height : 0);
    input->data = allocated(malloc(input->n * element_size(r->element)));
    memcpy(input->data, p->samples, samples * (p->bits / 8));
    if (!depth) return 0;
    append_depth(input, samples, depth);
    unsigned white = p->bits == 8 ? UINT8_MAX : UINT16_MAX;
    double focus = r->focus < 0 ? FOCUS : r->focus;
    r->blur = (struct sat_focus){.focus = (unsigned)(focus * white + 0.5),
                                 .farthest = white,
                                 .width = r->max_width ? r->max_width : MAX_WIDTH};
    return 0;
}

static int read_files(struct request *r, struct input *input, const struct options *o,
                      struct fault *fault)
{
    struct picture p, depth = {0};
    int code = picture_read(&p, o->input, fault);
    if (code) return code;
    if (p.bits == 32) code = check_floats(&p, strcmp(o->input, "-") ? o->input : "stdin", fault);
    if (!code && r->depth) code = picture_read(&depth, r->depth, fault);
    if (!code) code = take_picture(r, input, &p, r->depth ? &depth : NULL, fault);
    picture_free(&p);
    picture_free(&depth);
    return code;
}

int sat_request_plan(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    r->variant = (enum variant)s->options->variant;
    int code = check(r, s->options, fault);
    if (!code) code = choose(r, input, s->options, fault);
    return code ? code : check_filter(r, s->options, fault);
}

int sat_request_input(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    const struct options *o = s->options;
    int code = o->input ? check(r, o, fault) : sat_request_plan(s, input, fault);
    r->variant = (enum variant)o->variant;
    if (code) return code;
    if (o->input)
        code = read_files(r, input, o, fault);
    else if (o->real)
        code = input_generate_uniform(input, r->element, input->n, o->seed, fault);
    else
        code = input_generate_bits(input, r->element, input->n, o->seed, fault);
    if (code) return code;
    code = check_filter(r, o, fault);
    if (code) input_free(input);
    return code;
}

void sat_request_about(const struct request *r, char *text, size_t size, const struct options *o)
{
    static const char *const colors[] = {[1] = "grey", [3] = "RGB", [4] = "RGBA"};
    char name[120], from[160];
    visible(name, sizeof name, o->input ? o->input : "");
    if (o->input)
        snprintf(from, sizeof from, "from %s", strcmp(name, "-") ? name : "stdin");
    else
        snprintf(from, sizeof from, "random, seed %llu", (unsigned long long)o->seed);
    snprintf(text, size, "%zu x %zu pixels, %s, %s, %s", r->size.width, r->size.height,
             colors[r->size.channels],
             r->element == ELEMENT_F32  ? "floats"
             : r->element == ELEMENT_I8 ? "8 bits"
                                        : "16 bits",
             from);
}
