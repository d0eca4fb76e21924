/*
 * request.c — the options of step 14, which of them go together, and the picture: a file's, or a
 * random one.
 */
#include "common/files/option_table.h"
#include "common/files/visible.h"
#include "common/harness/host/host.h"
#include "common/harness/pictures/picture.h"
#include "common/harness/print/print.h"
#include "common/step/element.h"
#include "request.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

static const char *set_size(void *self, const char *value)
{
    struct request *r = self;
    return size_pair(value, &r->width, &r->height) ? NULL
                                                   : "give width and height, such as 640x480.";
}

static const char *set_channels(void *self, const char *value)
{
    struct request *r = self;
    size_t number;
    if (!size_whole(value, &number) || (number != 1 && number != 3 && number != 4))
        return "a picture has 1 channel (grey), 3 (RGB) or 4 (RGBA).";
    r->channels = (unsigned)number;
    return NULL;
}

static const char *set_bits(void *self, const char *value)
{
    struct request *r = self;
    size_t number;
    if (!size_whole(value, &number) || (number != 8 && number != 16))
        return "samples have 8 or 16 bits.";
    r->bits = (unsigned)number;
    return NULL;
}

static const char *set_box(void *self, const char *value)
{
    struct request *r = self;
    return size_whole(value, &r->box) ? NULL : "give the window's width in pixels, from 1 on.";
}

static const char *set_depth(void *self, const char *value)
{
    struct request *r = self;
    r->depth = value;
    return *value ? NULL : "the name of the file is empty.";
}

static const char *set_focus(void *self, const char *value)
{
    struct request *r = self;
    r->focused = true;
    bool right = option_real(value, &r->focus) && r->focus >= 0 && r->focus <= 1;
    return right ? NULL : "give a number from 0 (the depth map's black) to 1 (its white).";
}

static const char *set_max_width(void *self, const char *value)
{
    struct request *r = self;
    bool right = size_whole(value, &r->max_width) && r->max_width % 2 == 1;
    return right ? NULL : "give an odd number of pixels: windows lie evenly around their pixel.";
}

static const char *set_sum(void *self, const char *value)
{
    struct request *r = self;
    size_t length = strlen(value);
    r->sum = value;
    bool right = length > 4 && strcmp(value + length - 4, ".npy") == 0;
    return right ? NULL : "the table is written as .npy; give a name that ends so.";
}

const struct step_option sat_request_options[] = {
    {.name = "size",
     .argument = "WxH",
     .help = "size of the random picture, in pixels",
     .set = set_size},
    {.name = "channels",
     .argument = "C",
     .help = "channels of the random picture: 1, 3 or 4",
     .set = set_channels},
    {.name = "bits",
     .argument = "B",
     .help = "bits per sample of the random picture: 8 or 16",
     .set = set_bits},
    {.name = "box",
     .argument = "W",
     .help = "apply a box filter: the mean of the W x W pixels around each",
     .set = set_box},
    {.name = "depth",
     .argument = "FILE",
     .help = "apply depth of field; the grey picture FILE has the depths",
     .set = set_depth},
    {.name = "focus",
     .argument = "D",
     .help = "with --depth: the depth in focus, from 0 to 1 (default 0.5)",
     .set = set_focus},
    {.name = "max-width",
     .argument = "W",
     .help = "with --depth: the largest window, in pixels (default 31)",
     .set = set_max_width},
    {.name = "sum",
     .argument = "FILE",
     .help = "write the table to FILE, a .npy file",
     .set = set_sum},
    {0},
};

/* ---- options together ------------------------------------------------------------------------ */

int sat_request_check(const struct request *r, const struct options *o, struct fault *fault)
{
    bool random = r->width || r->channels || r->bits;
    if (o->input && random)
        return fail(fault, EXIT_USAGE,
                    "--size, --channels and --bits are about random pictures; leave them or "
                    "--input out.");
    if (r->width && o->n_given)
        return fail(fault, EXIT_USAGE, "--n and --size exclude each other; both say how large.");
    if (o->real && (r->bits || r->box || r->depth))
        return fail(fault, EXIT_USAGE,
                    "--real: a table of floats takes no --bits, --box and --depth.");
    if (r->box && r->depth)
        return fail(fault, EXIT_USAGE, "--box and --depth are two filters; leave one out.");
    if (!r->depth && (r->focused || r->max_width))
        return fail(fault, EXIT_USAGE, "--focus and --max-width need --depth FILE.");
    if (r->depth && !o->input)
        return fail(fault, EXIT_USAGE, "--depth needs the picture that it belongs to: --input.");
    if (o->output && !r->box && !r->depth)
        return fail(fault, EXIT_USAGE,
                    "--output takes a filtered picture: add --box W or --depth FILE; the table is "
                    "written by --sum FILE.npy.");
    return (r->sum ? output_check(r->sum, fault) : 0);
}

/* Windows whose sums may reach 2^32 are refused, since the table is modulo 2^32. */
static int check_width(const struct request *r, size_t width, const char *option,
                       struct fault *fault)
{
    size_t most = r->element == ELEMENT_I8 ? 4104 : 256, w = width;
    size_t across = w < r->size.width ? w : r->size.width;
    size_t down = w < r->size.height ? w : r->size.height;
    uint64_t white = r->element == ELEMENT_I8 ? UINT8_MAX : UINT16_MAX;
    if (down <= UINT32_MAX / white / across) return 0;
    return fail(fault, EXIT_USAGE,
                "%s %zu: the sum of a window may reach 2^32 there; with %u bits a sample the "
                "width is at most %zu.",
                option, width, r->element == ELEMENT_I8 ? 8 : 16, most);
}

int sat_request_check_filter(struct request *r, const struct options *o, struct fault *fault)
{
    int code = 0;
    if (r->element == ELEMENT_F32 && (r->box || r->depth))
        return fail(fault, EXIT_USAGE,
                    "%s: %s has floats; filters take 8 or 16 bits, and --sum writes its table.",
                    r->box ? "--box" : "--depth", o->input);
    r->filter = r->box ? FILTER_BOX : r->depth ? FILTER_DEPTH : FILTER_NONE;
    if (r->box) code = check_width(r, r->box, "--box", fault);
    if (r->depth) code = check_width(r, r->blur.width, "--max-width", fault);
    if (!code && o->output) code = picture_check_path(o->output, r->size.channels, fault);
    return code;
}

/* ---- the input ------------------------------------------------------------------------------- */

#define MAX_WIDTH 31 /* --max-width where it is not given */
#define FOCUS     0.5
#define SUM_MOST  (FLT_MAX / 2)

/* ---- a random picture ------------------------------------------------------------------------ */

static uint64_t next_random(uint64_t *state) /* SplitMix64 */
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* n pixels: as wide as the smallest divisor of n with which the picture is at least as wide as
 * high. */
static void choose_size(struct request *r, const struct options *o)
{
    r->size = (struct sat_size){r->width, r->height, r->channels};
    if (!r->size.channels) r->size.channels = 1;
    if (r->width) return;
    size_t height = (size_t)sqrt((double)o->n);
    while (height > o->n / height || o->n % height > 0) height--;
    r->size.width = o->n / height;
    r->size.height = height;
}

static void fill(struct input *input, uint64_t seed)
{
    for (size_t i = 0; i < input->n; i++) {
        uint64_t random = next_random(&seed) >> 40;
        if (input->element == ELEMENT_I8) ((uint8_t *)input->data)[i] = (uint8_t)random;
        if (input->element == ELEMENT_I16) ((uint16_t *)input->data)[i] = (uint16_t)random;
        if (input->element == ELEMENT_F32) ((float *)input->data)[i] = (float)random * 0x1p-24f;
    }
}

static int reserve(struct input *input, size_t n, struct fault *fault)
{
    size_t bytes;
    input->n = n;
    input->data = NULL;
    if (!__builtin_mul_overflow(n, element_size(input->element), &bytes) && bytes <= host_memory())
        input->data = malloc(bytes);
    return input->data ? 0
                       : fail(fault, EXIT_USAGE,
                              "a picture of %zu samples does not fit into "
                              "memory; take a smaller one.",
                              n);
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

static int generate(struct request *r, struct input *input, const struct options *o,
                    struct fault *fault)
{
    int code = choose(r, input, o, fault);
    if (!code) code = reserve(input, input->n, fault);
    if (!code) fill(input, o->seed);
    return code;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Sample i of a depth map, as one of a map whose white is `white`. */
static unsigned scaled_depth(const struct picture *depth, size_t i, unsigned white)
{
    uint64_t d =
        depth->bits == 8 ? ((uint8_t *)depth->samples)[i] : ((uint16_t *)depth->samples)[i];
    return (unsigned)((d * white + depth->maximum / 2) / depth->maximum);
}

/* Depths become as wide as the picture's samples, and use all of their range. */
static void append_depth(struct input *input, size_t at, const struct picture *depth)
{
    size_t count = depth->width * depth->height;
    for (size_t i = 0; i < count; i++) {
        if (input->element == ELEMENT_I16)
            ((uint16_t *)input->data)[at + i] = (uint16_t)scaled_depth(depth, i, UINT16_MAX);
        else
            ((uint8_t *)input->data)[at + i] = (uint8_t)scaled_depth(depth, i, UINT8_MAX);
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

static void set_blur(struct request *r, unsigned white)
{
    double focus = r->focused ? r->focus : FOCUS;
    r->blur.farthest = white;
    r->blur.focus = (unsigned)(focus * white + 0.5);
    r->blur.width = r->max_width ? r->max_width : MAX_WIDTH;
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
    if (!code) code = reserve(input, samples + (depth ? p->width * p->height : 0), fault);
    if (code) return code;
    memcpy(input->data, p->samples, samples * (p->bits / 8));
    if (!depth) return 0;
    append_depth(input, samples, depth);
    set_blur(r, p->bits == 8 ? UINT8_MAX : UINT16_MAX);
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
    int code = sat_request_check(r, s->options, fault);
    if (!code) code = choose(r, input, s->options, fault);
    return code ? code : sat_request_check_filter(r, s->options, fault);
}

int sat_request_input(const struct subject *s, struct input *input, struct fault *fault)
{
    struct request *r = s->self;
    const struct options *o = s->options;
    r->variant = (enum variant)o->variant;
    int code = sat_request_check(r, o, fault);
    if (!code) code = o->input ? read_files(r, input, o, fault) : generate(r, input, o, fault);
    if (code) return code;
    code = sat_request_check_filter(r, o, fault);
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
