/*
 * picture.c — recognizes a picture's format and hands it to its reader or writer.
 */
#include "picture.h"

#include "common/harness/host/host.h"
#include "common/harness/print/print.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PNG_FIRST_BYTE 0x89 /* of "\x89PNG" */
#define NPY_FIRST_BYTE 0x93 /* of "\x93NUMPY" */

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

int picture_ends_early(FILE *file, const char *name, struct fault *fault)
{
    if (ferror(file)) return fail(fault, EXIT_USAGE, "cannot read %s: %s.", name, strerror(errno));
    return fail(fault, EXIT_USAGE, "%s ends before its last pixel; it is truncated.", name);
}

int picture_read_floats(float *to, size_t count, bool lowest_first, FILE *file, const char *name,
                        struct fault *fault)
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
    if (first == 'P' && (second == '2' || second == '3' || second == '5' || second == '6'))
        return pnm_read(p, file, (char)second, name, fault);
    if (first == 'P' && (second == 'f' || second == 'F'))
        return pfm_read(p, file, (char)second, name, fault);
    if (first == 'P' && (second == '1' || second == '4' || second == '7'))
        return fail(fault, EXIT_USAGE, "%s is a %s; make it a PGM, a PPM or a PNG.", name,
                    second == '7' ? "PAM" : "PBM, of one bit a pixel");
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

int picture_write(const struct picture *p, const char *path, struct fault *fault)
{
    struct output output;
    int code = picture_check_path(path, p->channels, fault);
    if (!code) code = output_begin_bytes(&output, path, fault);
    if (code) return code;
    errno = ends_in(path, ".png") ? png_write(p, output.file) : pnm_write(p, output.file);
    return errno ? output_failed(&output, fault) : output_end(&output, fault);
}
