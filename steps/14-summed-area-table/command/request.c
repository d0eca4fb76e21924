/*
 * request.c — the options of step 14, and which of them go together. request_input.c reads the
 * files.
 */
#include "request.h"

#include "common/command/option_table.h"
#include "common/harness/pictures/picture.h"
#include "common/harness/print/print.h"
#include "common/step/element.h"

#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

/* A whole number from 1 on. False: it is none. */
static bool read_number(const char *text, size_t *number)
{
    struct fault ignored;
    return size_parse(text, "", number, &ignored) == 0 && *number > 0;
}

static const char *set_size(void *self, const char *value)
{
    struct request *r = self;
    char width[32];
    const char *cross = strchr(value, 'x');
    size_t length = cross ? (size_t)(cross - value) : sizeof width;
    if (length < sizeof width) {
        memcpy(width, value, length);
        width[length] = '\0';
        if (read_number(width, &r->width) && read_number(cross + 1, &r->height)) return NULL;
    }
    return "give width and height, such as 640x480.";
}

static const char *set_channels(void *self, const char *value)
{
    struct request *r = self;
    size_t number;
    if (!read_number(value, &number) || (number != 1 && number != 3 && number != 4))
        return "a picture has 1 channel (grey), 3 (RGB) or 4 (RGBA).";
    r->channels = (unsigned)number;
    return NULL;
}

static const char *set_bits(void *self, const char *value)
{
    struct request *r = self;
    size_t number;
    if (!read_number(value, &number) || (number != 8 && number != 16))
        return "samples have 8 or 16 bits.";
    r->bits = (unsigned)number;
    return NULL;
}

static const char *set_box(void *self, const char *value)
{
    struct request *r = self;
    return read_number(value, &r->box) ? NULL : "give the window's width in pixels, from 1 on.";
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
    bool right = read_number(value, &r->max_width) && r->max_width % 2 == 1;
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
