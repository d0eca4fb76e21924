/*
 * pfm.c — PFM, pictures of floats: "Pf width height scale" and one white space, then the rows
 * from the lowest to the highest; PF has three floats a pixel. A scale below 0 says that the lowest
 * byte of a float comes first. How large the scale is does not matter here: pixels are not changed.
 */
#include "picture.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SCALE_MOST 40 /* characters of the scale */

/* Reads the scale and the white space behind it. False: it is not a number, or it is 0. */
static bool read_scale(FILE *file, double *scale)
{
    char text[SCALE_MOST + 1], *end;
    size_t length = 0;
    int c = getc(file);
    while (isspace(c)) c = getc(file);
    for (; c != EOF && !isspace(c) && length < SCALE_MOST; c = getc(file)) text[length++] = (char)c;
    text[length] = '\0';
    *scale = strtod(text, &end);
    return isspace(c) && length > 0 && !*end && *scale != 0 && isfinite(*scale);
}

static int read_pfm_header(struct picture *p, bool *lowest_first, FILE *file, char kind,
                           const char *name, struct fault *fault)
{
    double scale;
    if (!pnm_read_number(file, SIZE_MAX / 2, &p->width) ||
        !pnm_read_number(file, SIZE_MAX / 2, &p->height) || !read_scale(file, &scale))
        return fail(fault, EXIT_USAGE,
                    "%s begins as a P%c picture, but width, height and a scale that is not 0 do "
                    "not follow.",
                    name, kind);
    p->channels = kind == 'f' ? 1 : 3;
    p->bits = 32;
    *lowest_first = scale < 0;
    return 0;
}

int pfm_read(struct picture *p, FILE *file, char kind, const char *name, struct fault *fault)
{
    bool lowest_first = false;
    int code = read_pfm_header(p, &lowest_first, file, kind, name, fault);
    if (!code) code = picture_reserve(p, name, fault);
    size_t row = p->width * p->channels;
    for (size_t y = p->height; y-- > 0 && !code;)
        code = picture_read_floats((float *)p->samples + y * row, row, lowest_first, file, name,
                                   fault);
    return code;
}
