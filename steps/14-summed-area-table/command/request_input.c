/*
 * request_input.c — the input of step 14: a file, or a random picture.
 */
#include "request.h"

#include "common/files/visible.h"
#include "common/harness/host/memory.h"
#include "common/harness/pictures/picture.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static void choose_size(const struct options *o)
{
    sat_request.size =
        (struct sat_size){sat_request.width, sat_request.height, sat_request.channels};
    if (!sat_request.size.channels) sat_request.size.channels = 1;
    if (sat_request.width) return;
    size_t height = (size_t)sqrt((double)o->n);
    while (height > o->n / height || o->n % height > 0) height--;
    sat_request.size.width = o->n / height;
    sat_request.size.height = height;
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
    if (!__builtin_mul_overflow(n, element_size(input->element), &bytes) &&
        bytes <= host_memory())
        input->data = malloc(bytes);
    return input->data ? 0
                       : fail(fault, EXIT_USAGE,
                              "a picture of %zu samples does not fit into "
                              "memory; take a smaller one.",
                              n);
}

/* What a random picture is, without its samples. */
static int choose(struct input *input, const struct options *o, struct fault *fault)
{
    struct sat_size *size = &sat_request.size;
    choose_size(o);
    sat_request.element = o->real ? ELEMENT_F32 : sat_request.bits == 16 ? ELEMENT_I16 : ELEMENT_I8;
    sat_request.maximum = sat_request.element == ELEMENT_I8 ? UINT8_MAX : UINT16_MAX;
    *input = (struct input){.element = sat_request.element};
    if (__builtin_mul_overflow(size->width, size->height, &input->n) ||
        __builtin_mul_overflow(input->n, size->channels, &input->n))
        return fail(fault, EXIT_USAGE,
                    "%zu x %zu pixels are more than any memory holds; take a smaller picture.",
                    size->width, size->height);
    return 0;
}

static int generate(struct input *input, const struct options *o, struct fault *fault)
{
    int code = choose(input, o, fault);
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

static int check_depth(const struct picture *p, const struct picture *depth, struct fault *fault)
{
    if (depth->bits == 32)
        return fail(fault, EXIT_USAGE, "%s has floats; a depth map has 8 or 16 bits.",
                    sat_request.depth);
    if (depth->channels != 1)
        return fail(fault, EXIT_USAGE, "%s has %u channels; a depth map is grey.",
                    sat_request.depth, depth->channels);
    if (depth->width != p->width || depth->height != p->height)
        return fail(fault, EXIT_USAGE,
                    "%s is %zu x %zu pixels and the picture %zu x %zu; a depth map has to be as "
                    "large.",
                    sat_request.depth, depth->width, depth->height, p->width, p->height);
    return 0;
}

static void set_blur(unsigned white)
{
    double focus = sat_request.focused ? sat_request.focus : FOCUS;
    sat_request.blur.farthest = white;
    sat_request.blur.focus = (unsigned)(focus * white + 0.5);
    sat_request.blur.width = sat_request.max_width ? sat_request.max_width : MAX_WIDTH;
}

static int take_picture(struct input *input, const struct picture *p, const struct picture *depth,
                        struct fault *fault)
{
    size_t samples = picture_samples(p);
    sat_request.size = (struct sat_size){p->width, p->height, p->channels};
    sat_request.element = p->bits == 8 ? ELEMENT_I8 : p->bits == 16 ? ELEMENT_I16 : ELEMENT_F32;
    sat_request.maximum = p->maximum;
    *input = (struct input){.element = sat_request.element};
    int code = depth ? check_depth(p, depth, fault) : 0;
    if (!code) code = reserve(input, samples + (depth ? p->width * p->height : 0), fault);
    if (code) return code;
    memcpy(input->data, p->samples, samples * (p->bits / 8));
    if (!depth) return 0;
    append_depth(input, samples, depth);
    set_blur(p->bits == 8 ? UINT8_MAX : UINT16_MAX);
    return 0;
}

static int read_files(struct input *input, const struct options *o, struct fault *fault)
{
    struct picture p, depth = {0};
    int code = picture_read(&p, o->input, fault);
    if (code) return code;
    if (p.bits == 32) code = check_floats(&p, strcmp(o->input, "-") ? o->input : "stdin", fault);
    if (!code && sat_request.depth) code = picture_read(&depth, sat_request.depth, fault);
    if (!code) code = take_picture(input, &p, sat_request.depth ? &depth : NULL, fault);
    picture_free(&p);
    picture_free(&depth);
    return code;
}

static int check(const struct options *o, struct fault *fault)
{
    sat_request.variant = (enum variant)o->variant;
    return sat_request_check(o, fault);
}

int sat_request_plan(struct input *input, const struct options *o, struct fault *fault)
{
    int code = check(o, fault);
    if (!code) code = choose(input, o, fault);
    return code ? code : sat_request_check_filter(o, fault);
}

int sat_request_input(struct input *input, const struct options *o, struct fault *fault)
{
    int code = check(o, fault);
    if (!code) code = o->input ? read_files(input, o, fault) : generate(input, o, fault);
    if (code) return code;
    code = sat_request_check_filter(o, fault);
    if (code) input_free(input);
    return code;
}

void sat_request_about(char *text, size_t size, const struct options *o)
{
    static const char *const colors[] = {[1] = "grey", [3] = "RGB", [4] = "RGBA"};
    char name[120], from[160];
    visible(name, sizeof name, o->input ? o->input : "");
    if (o->input)
        snprintf(from, sizeof from, "from %s", strcmp(name, "-") ? name : "stdin");
    else
        snprintf(from, sizeof from, "random, seed %llu", (unsigned long long)o->seed);
    snprintf(text, size, "%zu x %zu pixels, %s, %s, %s", sat_request.size.width,
             sat_request.size.height, colors[sat_request.size.channels],
             sat_request.element == ELEMENT_F32  ? "floats"
             : sat_request.element == ELEMENT_I8 ? "8 bits"
                                                 : "16 bits",
             from);
}
