/* picture.c — recognizes a picture's format and hands it to its reader or writer. */
#include "common/harness/input/input.h"
#include "common/harness/print/print.h"
#include "picture.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PNG_FIRST_BYTE 0x89 /* of "\x89PNG" */

size_t picture_samples(const struct picture *p) { return p->width * p->height * p->channels; }

void picture_free(struct picture *p)
{
    free(p->samples);
    p->samples = NULL;
}

int picture_reserve(struct picture *p, const char *name, struct fault *fault)
{
    size_t bytes;
    if (p->width == 0 || p->height == 0)
        return fail(fault, EXIT_USAGE, "%s has no pixels: it is %zu x %zu.", name, p->width,
                    p->height);
    bool too_large = __builtin_mul_overflow(p->width, p->height, &bytes) ||
                     __builtin_mul_overflow(bytes, p->channels * (p->bits / 8), &bytes) ||
                     bytes > host_memory();
    if (!too_large) p->samples = malloc(bytes);
    if (p->samples) return 0;
    return fail(fault, EXIT_USAGE, "%s: %zu x %zu pixels do not fit into memory.", name, p->width,
                p->height);
}

void picture_from_big_endian(uint16_t *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned char *bytes = (const unsigned char *)&samples[i];
        samples[i] = (uint16_t)(bytes[0] << 8 | bytes[1]);
    }
}

/* Fails because the file has ended, or could not be read, before its last pixel. Returns
 * EXIT_USAGE. */
static int picture_ends_early(FILE *file, const char *name, struct fault *fault)
{
    if (ferror(file)) return fail(fault, EXIT_USAGE, "cannot read %s: %s.", name, strerror(errno));
    return fail(fault, EXIT_USAGE, "%s ends before its last pixel; it is truncated.", name);
}

/* Reads floats in either order of their bytes. EXIT_USAGE if there are fewer. */
static int picture_read_floats(float *to, size_t count, bool lowest_first, FILE *file,
                               const char *name, struct fault *fault)
{
    if (fread(to, sizeof *to, count, file) != count) return picture_ends_early(file, name, fault);
    for (size_t i = 0; i < count; i++) {
        unsigned char b[sizeof *to];
        memcpy(b, &to[i], sizeof b);
        uint32_t bits =
            lowest_first ? b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24
                         : b[3] | (uint32_t)b[2] << 8 | (uint32_t)b[1] << 16 | (uint32_t)b[0] << 24;
        memcpy(&to[i], &bits, sizeof bits);
    }
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int npy_picture_read(struct picture *, FILE *, const char *name, struct fault *);

static int pfm_read(struct picture *, FILE *, char kind, const char *name, struct fault *);

/* The rest of a file whose first two bytes have been read: `kind` is the second one of a PGM, PPM
 * or PFM. (A .npy file stands at its beginning.) They fill the picture, whose samples the caller
 * frees. */
static int pnm_read(struct picture *, FILE *, char kind, const char *name, struct fault *);

static int read_kind(struct picture *p, FILE *file, const char *name, struct fault *fault)
{
    int first = getc(file);
    if (first == NPY_FIRST_BYTE) {
        ungetc(first, file);
        return npy_picture_read(p, file, name, fault);
    }
    int second = first == EOF ? EOF : getc(file);
    if (ferror(file)) return fail(fault, EXIT_USAGE, "cannot read %s: %s.", name, strerror(errno));
    if (first == EOF) return fail(fault, EXIT_USAGE, "%s is empty; it should be a picture.", name);
    if (first == PNG_FIRST_BYTE && second == 'P') return png_read(p, file, name, fault);
    if (first == 'P' && (second == '5' || second == '6'))
        return pnm_read(p, file, (char)second, name, fault);
    if (first == 'P' && (second == 'f' || second == 'F'))
        return pfm_read(p, file, (char)second, name, fault);
    if (first == 'P' && second >= '1' && second <= '7')
        return fail(fault, EXIT_USAGE,
                    "%s is a P%c picture; make it a PGM or a PPM in binary, or a PNG.", name,
                    second);
    return fail(fault, EXIT_USAGE, "%s is not a picture; PNG, PGM, PPM, PFM and .npy can be read.",
                name);
}

/* The picture, and nothing behind it but white space and zeros. */
int picture_read_file(struct picture *p, FILE *file, const char *name, struct fault *fault)
{
    *p = (struct picture){0};
    int code = read_kind(p, file, name, fault);
    int next = 0; /* some programs end a file with a newline, or fill it up with zeros */
    while (!code && (next == 0 || isspace(next))) next = getc(file);
    if (!code && next != EOF)
        code =
            fail(fault, EXIT_USAGE,
                 "%s goes on after its last pixel; take a file of one picture and no more.", name);
    if (code) picture_free(p);
    return code;
}

int picture_read(struct picture *p, const char *path, struct fault *fault)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    *p = (struct picture){0};
    if (!file) return fail(fault, EXIT_USAGE, "cannot open %s: %s.", path, strerror(errno));
    int code = picture_read_file(p, file, is_stdin ? "stdin" : path, fault);
    if (!is_stdin) fclose(file);
    return code;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *end)
{
    size_t length = strlen(path), least = strlen(end);
    return length > least && strcmp(path + length - least, end) == 0;
}

int picture_check_path(const char *path, unsigned channels, struct fault *fault)
{
    bool is_stdout = output_is_stdout(path);
    if (ends_in(path, ".png") && png_is_supported()) return 0;
    if (ends_in(path, ".png"))
        return fail(fault, EXIT_USAGE,
                    "cannot write %s: this program was built without libpng; install libpng-dev "
                    "and build again, or write a .pgm or .ppm.",
                    path);
    if (channels == 4)
        return fail(fault, EXIT_USAGE, "cannot write %s: a picture of 4 channels has to be a .png.",
                    path);
    const char *right = channels == 1 ? ".pgm" : ".ppm";
    if (is_stdout || ends_in(path, right) || ends_in(path, ".pnm")) return 0;
    return fail(fault, EXIT_USAGE, "cannot write %s: its name has to end in .png or %s.", path,
                right);
}

/* Writes to an open file. Returns 0, or an errno. */
static int pnm_write(const struct picture *, FILE *);

int picture_write(const struct picture *p, const char *path, struct fault *fault)
{
    struct output output;
    int code = picture_check_path(path, p->channels, fault);
    if (!code) code = output_begin_bytes(&output, path, fault);
    if (code) return code;
    errno = ends_in(path, ".png") ? png_write(p, output.file) : pnm_write(p, output.file);
    return errno ? output_failed(&output, fault) : output_end(&output, fault);
}

/* ---- PGM and PPM ----------------------------------------------------------------------------- */

/* PGM and PPM, as netpbm defines them: "P5 width height maximum" and one white space, then
 * the samples. A comment goes from # to the end of its line. It counts as the end of the line, so
 * it may follow a number directly. */

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
    p->channels = kind == '5' ? 1 : 3;
    p->bits = maximum > LARGEST_8 ? 16 : 8;
    p->maximum = (unsigned)maximum;
    return 0;
}

static int read_samples(struct picture *p, FILE *file, const char *name, struct fault *fault)
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

static int pnm_read(struct picture *p, FILE *file, char kind, const char *name, struct fault *fault)
{
    int code = read_header(p, file, kind, name, fault);
    if (!code) code = picture_reserve(p, name, fault);
    if (code) return code;
    return read_samples(p, file, name, fault);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool write_big_endian(const uint16_t *samples, size_t count, FILE *file)
{
    for (size_t i = 0; i < count; i++)
        if (putc(samples[i] >> 8, file) == EOF || putc(samples[i] & 0xff, file) == EOF)
            return false;
    return true;
}

static int pnm_write(const struct picture *p, FILE *file)
{
    size_t count = picture_samples(p);
    bool done = fprintf(file, "P%c\n%zu %zu\n%u\n", p->channels == 1 ? '5' : '6', p->width,
                        p->height, p->maximum) > 0;
    if (done && p->bits == 8) done = fwrite(p->samples, 1, count, file) == count;
    if (done && p->bits == 16) done = write_big_endian(p->samples, count, file);
    return done ? 0 : errno ? errno : EIO;
}

/* ---- pfm ------------------------------------------------------------------------------------- */

/* PFM, pictures of floats: "Pf width height scale" and one white space, then the rows
 * from the lowest to the highest; PF has three floats a pixel. A scale below 0 says that the lowest
 * byte of a float comes first. How large the scale is does not matter here: pixels are not
 * changed. */

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

static int pfm_read(struct picture *p, FILE *file, char kind, const char *name, struct fault *fault)
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

/* A .npy array of uint8, uint16 or float32 as a picture: height x width, or
 * height x width x channels. */

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

static int npy_picture_read(struct picture *p, FILE *file, const char *name, struct fault *fault)
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
