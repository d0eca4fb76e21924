/*
 * pnm.c — PGM, PPM, PFM and .npy as pictures.
 */
#include "picture.h"
#include "common/harness/input/input.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- PGM and PPM ----------------------------------------------------------------------------- */

/*
 * PGM and PPM, as netpbm defines them: "P5 width height maximum" and one white space, then
 * the samples. P2 and P3 have the samples as text. A comment goes from # to the end of its line. It
 * counts as the end of the line, so it may follow a number directly.
 */

#define LARGEST_8  255
#define LARGEST_16 65535

/* ---- reading --------------------------------------------------------------------------------- */

/* The next character, or the end of the line in place of a comment; EOF. */
static int next_character(FILE *file)
{
    int c = getc(file);
    if (c == '#')
        while (c != '\n' && c != '\r' && c != EOF) c = getc(file);
    return c;
}

/* The next character that is not white space; EOF. */
static int next_word(FILE *file)
{
    int c = next_character(file);
    while (isspace(c)) c = next_character(file);
    return c;
}

/* A whole number of a PGM, PPM or PFM, after white space and comments; the character behind it has
 * been read, too. False: there is no number, or it is more than `most`. */
static bool pnm_read_number(FILE *file, size_t most, size_t *number)
{
    int c = next_word(file);
    if (!isdigit(c)) return false;
    for (*number = 0; isdigit(c); c = next_character(file)) {
        size_t digit = (size_t)(c - '0');
        if (digit > most || *number > (most - digit) / 10) return false;
        *number = *number * 10 + digit;
    }
    return c == EOF || isspace(c);
}

static int read_header(struct picture *p, FILE *file, char kind, const char *name,
                       struct fault *fault)
{
    size_t maximum;
    if (!pnm_read_number(file, SIZE_MAX / 2, &p->width) ||
        !pnm_read_number(file, SIZE_MAX / 2, &p->height) ||
        !pnm_read_number(file, LARGEST_16, &maximum) || maximum == 0)
        return fail(fault, EXIT_USAGE,
                    "%s begins as a P%c picture, but width, height and a maximum from 1 to 65535 "
                    "do not follow.",
                    name, kind);
    p->channels = kind == '2' || kind == '5' ? 1 : 3;
    p->bits = maximum > LARGEST_8 ? 16 : 8;
    p->maximum = (unsigned)maximum;
    return 0;
}

static int read_text(struct picture *p, FILE *file, const char *name, struct fault *fault)
{
    size_t count = picture_samples(p), number;
    for (size_t i = 0; i < count; i++) {
        if (!pnm_read_number(file, p->maximum, &number)) {
            if (feof(file)) return picture_ends_early(file, name, fault);
            return fail(fault, EXIT_USAGE, "%s: sample %zu is not a number from 0 to %u.", name, i,
                        p->maximum);
        }
        if (p->bits == 8)
            ((uint8_t *)p->samples)[i] = (uint8_t)number;
        else
            ((uint16_t *)p->samples)[i] = (uint16_t)number;
    }
    ungetc(next_word(file), file); /* white space and comments may follow */
    return 0;
}

static int read_binary(struct picture *p, FILE *file, const char *name, struct fault *fault)
{
    size_t count = picture_samples(p);
    if (fread(p->samples, p->bits / 8, count, file) != count)
        return picture_ends_early(file, name, fault);
    if (p->bits == 16) picture_from_big_endian(p->samples, count);
    for (size_t i = 0; i < count; i++) {
        unsigned sample = p->bits == 8 ? ((uint8_t *)p->samples)[i] : ((uint16_t *)p->samples)[i];
        if (sample > p->maximum)
            return fail(fault, EXIT_USAGE, "%s: sample %zu is %u, more than its maximum, %u.", name,
                        i, sample, p->maximum);
    }
    return 0;
}

int pnm_read(struct picture *p, FILE *file, char kind, const char *name, struct fault *fault)
{
    int code = read_header(p, file, kind, name, fault);
    if (!code) code = picture_reserve(p, name, fault);
    if (code) return code;
    return kind == '2' || kind == '3' ? read_text(p, file, name, fault)
                                      : read_binary(p, file, name, fault);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool write_big_endian(const uint16_t *samples, size_t count, FILE *file)
{
    for (size_t i = 0; i < count; i++)
        if (putc(samples[i] >> 8, file) == EOF || putc(samples[i] & 0xff, file) == EOF)
            return false;
    return true;
}

int pnm_write(const struct picture *p, FILE *file)
{
    size_t count = picture_samples(p);
    bool done = fprintf(file, "P%c\n%zu %zu\n%u\n", p->channels == 1 ? '5' : '6', p->width,
                        p->height, p->maximum) > 0;
    if (done && p->bits == 8) done = fwrite(p->samples, 1, count, file) == count;
    if (done && p->bits == 16) done = write_big_endian(p->samples, count, file);
    return done ? 0 : errno ? errno : EIO;
}

/* ---- pfm ------------------------------------------------------------------------------------- */

/*
 * PFM, pictures of floats: "Pf width height scale" and one white space, then the rows
 * from the lowest to the highest; PF has three floats a pixel. A scale below 0 says that the lowest
 * byte of a float comes first. How large the scale is does not matter here: pixels are not changed.
 */

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

/* ---- a .npy array of uint8 ------------------------------------------------------------------- */

/*
 * A .npy array of uint8, uint16 or float32 as a picture: height x width, or
 * height x width x channels.
 */

static int take_header(struct picture *p, const struct npy_header *header, const char *name,
                       struct fault *fault)
{
    size_t channels = header->dimensions == 3 ? header->shape[2] : 1;
    if (header->dimensions == 1 || (channels != 1 && channels != 3 && channels != 4))
        return fail(fault, EXIT_USAGE,
                    "%s: a picture in a .npy file is height x width, or height x width x 1, 3 or "
                    "4 channels.",
                    name);
    if (header->by_columns)
        return fail(fault, EXIT_USAGE,
                    "%s has the columns of its array one after the other; a picture has rows (in "
                    "NumPy: numpy.ascontiguousarray(a)).",
                    name);
    p->height = header->shape[0];
    p->width = header->shape[1];
    p->channels = (unsigned)channels;
    p->bits = header->kind == NPY_U1 ? 8 : header->kind == NPY_U2 ? 16 : 32;
    p->maximum = header->kind == NPY_U1 ? UINT8_MAX : header->kind == NPY_U2 ? UINT16_MAX : 0;
    return 0;
}

int npy_picture_read(struct picture *p, FILE *file, const char *name, struct fault *fault)
{
    struct npy_header header = {.most = NPY_DIMENSIONS};
    int code = npy_header_read(&header, file, name, fault);
    if (!code) code = take_header(p, &header, name, fault);
    if (!code) code = picture_reserve(p, name, fault);
    if (code) return code;
    size_t count = picture_samples(p);
    if (p->bits == 32)
        return picture_read_floats(p->samples, count, header.lowest_first, file, name, fault);
    if (fread(p->samples, p->bits / 8, count, file) != count)
        return picture_ends_early(file, name, fault);
    if (p->bits == 16 && !header.lowest_first) picture_from_big_endian(p->samples, count);
    return 0;
}
