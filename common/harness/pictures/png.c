/* png.c — PNG, by libpng. Interlaced files and palettes are read as any other. Where libpng is not
 * installed, PNG files are refused. */
#include "picture.h"

#include <errno.h>

#if defined WITHOUT_PNG || !__has_include(<png.h>)

bool png_is_supported(void) { return false; }

int png_read(struct picture *p, FILE *file, const char *name, struct fault *fault)
{
    (void)p, (void)file;
    return fail(fault, EXIT_USAGE,
                "%s is a PNG, and this program was built without libpng; install libpng-dev and "
                "build again, or use a PGM or PPM.",
                name);
}

int png_write(const struct picture *p, FILE *file) { return (void)p, (void)file, ENOTSUP; }

#else

#include <limits.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>

/* What must be freed, and where libpng's errors go. `name`: the file, for the sentence. */
struct work {
    png_structp png;
    png_infop info;
    const char *name;
    struct fault *fault;
    int error; /* errno of a failed write */
};

bool png_is_supported(void) { return true; }

/* ---- libpng's errors ------------------------------------------------------------------------- */

/* libpng requires that this function does not return. libpng's message is passed on to the user. */
static void read_error(png_structp png, png_const_charp message)
{
    struct work *w = png_get_error_ptr(png);
    if (w->fault->code == 0)
        fail(w->fault, EXIT_USAGE, "%s is a PNG that cannot be read: libpng says \"%.100s\".",
             w->name, message);
    longjmp(png_jmpbuf(png), 1);
}

static void write_error(png_structp png, png_const_charp message)
{
    struct work *w = png_get_error_ptr(png);
    (void)message;
    w->error = errno ? errno : EIO;
    longjmp(png_jmpbuf(png), 1);
}

static void no_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

/* Replaces libpng's own function, whose message for a truncated file is "Read Error". */
static void read_bytes(png_structp png, png_bytep to, size_t count)
{
    struct work *w = png_get_error_ptr(png);
    if (fread(to, 1, count, png_get_io_ptr(png)) == count) return;
    fail(w->fault, EXIT_USAGE, "%s ends before its last pixel; it is truncated.", w->name);
    png_error(png, "truncated");
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Sets the form of the picture in memory: grey, RGB or RGBA of 8 or 16 bits, for any form in the
 * file. */
static void describe(const struct work *w, struct picture *p)
{
    png_byte color = png_get_color_type(w->png, w->info);
    bool transparent = png_get_valid(w->png, w->info, PNG_INFO_tRNS) != 0;
    p->width = png_get_image_width(w->png, w->info);
    p->height = png_get_image_height(w->png, w->info);
    p->channels = color & PNG_COLOR_MASK_ALPHA || transparent ? 4
                  : color & PNG_COLOR_MASK_COLOR              ? 3
                                                              : 1;
    p->bits = png_get_bit_depth(w->png, w->info) == 16 ? 16 : 8;
    p->maximum = p->bits == 8 ? UINT8_MAX : UINT16_MAX;
}

/* libpng allocates a row. An interlaced file is read several times. */
static void read_rows(const struct work *w, struct picture *p)
{
    png_set_expand(w->png); /* palettes, fewer than 8 bits, transparent colours */
    if (p->channels == 4) png_set_gray_to_rgb(w->png);
    int passes = png_set_interlace_handling(w->png);
    png_read_update_info(w->png, w->info);
    size_t row_bytes = png_get_rowbytes(w->png, w->info);
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < p->height; y++)
            png_read_row(w->png, (png_bytep)p->samples + y * row_bytes, NULL);
}

/* Everything that a longjmp may leave. `w` and `p` belong to the caller, so they are still valid
 * then. */
static int read_all(struct work *w, struct picture *p, FILE *file)
{
    enum { SIGNATURE_READ = 2 };
    if (setjmp(png_jmpbuf(w->png))) return w->fault->code;
    png_set_read_fn(w->png, file, read_bytes);
    png_set_sig_bytes(w->png, SIGNATURE_READ);
    png_set_user_limits(w->png, INT_MAX, INT_MAX);
    png_read_info(w->png, w->info);
    describe(w, p);
    int code = picture_reserve(p, w->name, w->fault);
    if (code) return code;
    read_rows(w, p);
    png_read_end(w->png, NULL);
    if (p->bits == 16) picture_from_big_endian(p->samples, picture_samples(p));
    return 0;
}

int png_read(struct picture *p, FILE *file, const char *name, struct fault *fault)
{
    struct work w = {.name = name, .fault = fault};
    fault->code = 0;
    w.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &w, read_error, no_warning);
    if (w.png) w.info = png_create_info_struct(w.png);
    int code = w.info ? read_all(&w, p, file)
                      : fail(fault, EXIT_USAGE, "no memory left to read %s.", name);
    png_destroy_read_struct(&w.png, &w.info, NULL);
    return code;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A sample of this picture as one whose white is 255 or 65535. */
static unsigned full_range(const struct picture *p, size_t i)
{
    unsigned sample = p->bits == 8 ? ((uint8_t *)p->samples)[i] : ((uint16_t *)p->samples)[i];
    uint64_t full = p->bits == 8 ? UINT8_MAX : UINT16_MAX;
    return (unsigned)((sample * full + p->maximum / 2) / p->maximum);
}

static void fill_row(const struct picture *p, size_t y, png_bytep row)
{
    size_t count = p->width * p->channels;
    for (size_t i = 0; i < count; i++) {
        unsigned sample = full_range(p, y * count + i);
        if (p->bits == 16) *row++ = (png_byte)(sample >> 8);
        *row++ = (png_byte)sample;
    }
}

static int write_all(struct work *w, const struct picture *p, png_bytep row, FILE *file)
{
    static const int colors[] = {
        [1] = PNG_COLOR_TYPE_GRAY, [3] = PNG_COLOR_TYPE_RGB, [4] = PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(w->png))) return w->error;
    png_init_io(w->png, file);
    png_set_user_limits(w->png, INT_MAX, INT_MAX);
    png_set_IHDR(w->png, w->info, (png_uint_32)p->width, (png_uint_32)p->height, (int)p->bits,
                 colors[p->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(w->png, w->info);
    for (size_t y = 0; y < p->height; y++) {
        fill_row(p, y, row);
        png_write_row(w->png, row);
    }
    png_write_end(w->png, NULL);
    return 0;
}

int png_write(const struct picture *p, FILE *file)
{
    if (p->width > INT_MAX || p->height > INT_MAX) return EFBIG;
    struct work w = {.error = ENOMEM};
    png_bytep row = allocated(malloc(p->width * p->channels * (p->bits / 8)));
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, write_error, no_warning);
    if (w.png) w.info = png_create_info_struct(w.png);
    errno = 0;
    int error = w.info ? write_all(&w, p, row, file) : ENOMEM;
    png_destroy_write_struct(&w.png, &w.info);
    free(row);
    return error;
}

#endif
