/*
 * request.c — the options of step 14, and which of them go together. request_input.c reads the
 * files.
 */
#include "request.h"

#include "common/harness/pictures/picture.h"
#include "common/harness/print/output.h"
#include "common/step/size.h"

#include <stdlib.h>
#include <string.h>

struct request sat_request;

/* ---- options --------------------------------------------------------------------------------- */

/* A whole number from 1 on. False: it is none. */
static bool read_number(const char *text, size_t *number)
{
    struct fault ignored;
    return size_parse(text, "", number, &ignored) == 0 && *number > 0;
}

static const char *set_size(const char *value)
{
    char width[32];
    const char *cross = strchr(value, 'x');
    size_t length = cross ? (size_t)(cross - value) : sizeof width;
    if (length < sizeof width) {
        memcpy(width, value, length);
        width[length] = '\0';
        if (read_number(width, &sat_request.width) && read_number(cross + 1, &sat_request.height))
            return NULL;
    }
    return "give width and height, such as 640x480.";
}

static const char *set_channels(const char *value)
{
    size_t number;
    if (!read_number(value, &number) || (number != 1 && number != 3 && number != 4))
        return "a picture has 1 channel (grey), 3 (RGB) or 4 (RGBA).";
    sat_request.channels = (unsigned)number;
    return NULL;
}

static const char *set_bits(const char *value)
{
    size_t number;
    if (!read_number(value, &number) || (number != 8 && number != 16))
        return "samples have 8 or 16 bits.";
    sat_request.bits = (unsigned)number;
    return NULL;
}

static const char *set_box(const char *value)
{
    return read_number(value, &sat_request.box) ? NULL
                                                : "give the window's width in pixels, from 1 on.";
}

static const char *set_depth(const char *value)
{
    sat_request.depth = value;
    return *value ? NULL : "the name of the file is empty.";
}

static const char *set_focus(const char *value)
{
    char *end;
    sat_request.focused = true;
    sat_request.focus = strtod(value, &end);
    bool right = *value && !*end && sat_request.focus >= 0 && sat_request.focus <= 1;
    return right ? NULL : "give a number from 0 (the depth map's black) to 1 (its white).";
}

static const char *set_max_width(const char *value)
{
    bool right = read_number(value, &sat_request.max_width) && sat_request.max_width % 2 == 1;
    return right ? NULL : "give an odd number of pixels: windows lie evenly around their pixel.";
}

static const char *set_sum(const char *value)
{
    size_t length = strlen(value);
    sat_request.sum = value;
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

int sat_request_check(const struct options *o, struct fault *fault)
{
    bool random = sat_request.width || sat_request.channels || sat_request.bits;
    if (o->input && random)
        return fail(fault, EXIT_USAGE,
                    "--size, --channels and --bits are about random pictures; leave them or "
                    "--input out.");
    if (sat_request.width && (o->n_given || o->sweep))
        return fail(fault, EXIT_USAGE, "%s and --size exclude each other; both say how large.",
                    o->sweep ? "--sweep" : "--n");
    if (o->real && (sat_request.bits || sat_request.box || sat_request.depth))
        return fail(fault, EXIT_USAGE,
                    "--real: a table of floats takes no --bits, --box and --depth.");
    if (sat_request.box && sat_request.depth)
        return fail(fault, EXIT_USAGE, "--box and --depth are two filters; leave one out.");
    if (!sat_request.depth && (sat_request.focused || sat_request.max_width))
        return fail(fault, EXIT_USAGE, "--focus and --max-width need --depth FILE.");
    if (sat_request.depth && !o->input)
        return fail(fault, EXIT_USAGE, "--depth needs the picture that it belongs to: --input.");
    if (o->output && !sat_request.box && !sat_request.depth)
        return fail(fault, EXIT_USAGE,
                    "--output takes a filtered picture: add --box W or --depth FILE; the table is "
                    "written by --sum FILE.npy.");
    if (sat_request.sum && o->sweep)
        return fail(fault, EXIT_USAGE, "--sum takes one result; leave --sweep out.");
    return (sat_request.sum ? output_check(sat_request.sum, fault) : 0);
}

/* Windows whose sums may reach 2^32 are refused, since the table is modulo 2^32. */
static int check_width(size_t width, const char *option, struct fault *fault)
{
    size_t most = sat_request.element == ELEMENT_I8 ? 4104 : 256, w = width;
    size_t across = w < sat_request.size.width ? w : sat_request.size.width;
    size_t down = w < sat_request.size.height ? w : sat_request.size.height;
    uint64_t white = sat_request.element == ELEMENT_I8 ? UINT8_MAX : UINT16_MAX;
    if (down <= UINT32_MAX / white / across) return 0;
    return fail(fault, EXIT_USAGE,
                "%s %zu: the sum of a window may reach 2^32 there; with %u bits a sample the "
                "width is at most %zu.",
                option, width, sat_request.element == ELEMENT_I8 ? 8 : 16, most);
}

int sat_request_check_filter(const struct options *o, struct fault *fault)
{
    int code = 0;
    if (sat_request.element == ELEMENT_F32 && (sat_request.box || sat_request.depth))
        return fail(fault, EXIT_USAGE,
                    "%s: %s has floats; filters take 8 or 16 bits, and --sum writes its table.",
                    sat_request.box ? "--box" : "--depth", o->input);
    sat_request.filter = sat_request.box     ? FILTER_BOX
                         : sat_request.depth ? FILTER_DEPTH
                                             : FILTER_NONE;
    if (sat_request.box) code = check_width(sat_request.box, "--box", fault);
    if (sat_request.depth) code = check_width(sat_request.blur.width, "--max-width", fault);
    if (!code && o->output) code = picture_check_path(o->output, sat_request.size.channels, fault);
    return code;
}
