/* test_pictures.c — PGM, PPM and PNG: a picture is read as it was written; other files, and parts
 * of pictures, are refused in a sentence. */
#define _GNU_SOURCE
#include "common/harness/pictures/picture.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if __has_include(<png.h>)
#include <png.h>
#endif

static char folder[] = "/tmp/upsweep-pictures-XXXXXX";

static char top[PATH_MAX]; /* the folder in which the tests were called */

static void enter_folder(void)
{
    cr_assert_not_null(getcwd(top, sizeof top));
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void leave_folder(void)
{
    static const char *const names[] = {"a", "a.pgm", "a.ppm", "a.pnm", "a.png"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(names[i]);
    cr_expect_eq(rmdir(folder), 0, "a file has remained");
}

TestSuite(pictures, .init = enter_folder, .fini = leave_folder);

static struct picture p;
static struct fault fault;

static void put(const char *path, const void *content, size_t length)
{
    FILE *file = fopen(path, "wb");
    cr_assert_eq(fwrite(content, 1, length, file), length);
    fclose(file);
}

/* The content of the file named a. */
static size_t get(const char *path, unsigned char *to, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t length = fread(to, 1, size, file);
    fclose(file);
    return length;
}

static void expect_refused(const char *content, size_t length, const char *sentence)
{
    put("a", content, length);
    cr_expect_eq(picture_read(&p, "a", &fault), EXIT_USAGE, "not refused: %s", sentence);
    cr_expect(strstr(fault.text, sentence), "\"%s\" has no \"%s\"", fault.text, sentence);
    cr_expect_null(p.samples);
}

static struct picture made(size_t width, size_t height, unsigned channels, unsigned bits)
{
    struct picture p = {width, height, channels, bits, bits == 8 ? 255 : 65535, NULL};
    size_t count = picture_samples(&p);
    p.samples = malloc(count * bits / 8);
    for (size_t i = 0; i < count; i++) {
        if (bits == 8)
            ((uint8_t *)p.samples)[i] = (uint8_t)(i * 37 + 11);
        else
            ((uint16_t *)p.samples)[i] = (uint16_t)(i * 9973 + 11);
    }
    return p;
}

static void expect_same(const struct picture *a, const struct picture *b)
{
    cr_assert(a->width == b->width && a->height == b->height && a->channels == b->channels &&
              a->bits == b->bits && a->maximum == b->maximum);
    cr_expect_arr_eq(a->samples, b->samples, picture_samples(a) * a->bits / 8);
}

static void expect_there_and_back(struct picture p, const char *path)
{
    struct picture again;
    cr_assert_eq(picture_write(&p, path, &fault), 0, "%s", fault.text);
    cr_assert_eq(picture_read(&again, path, &fault), 0, "%s", fault.text);
    expect_same(&p, &again);
    picture_free(&p);
    picture_free(&again);
}

Test(pictures, pgm_and_ppm_there_and_back)
{
    for (unsigned bits = 8; bits <= 16; bits += 8) {
        expect_there_and_back(made(7, 5, 1, bits), "a.pgm");
        expect_there_and_back(made(1, 3, 3, bits), "a.ppm");
        expect_there_and_back(made(300, 1, 3, bits), "a.pnm");
    }
}

Test(pictures, comments_and_any_maximum)
{
    static const char text[] = "P5 # grey\n3\n2 # size\n9\n\0\1\2\3\4\x09";
    put("a", text, sizeof text - 1);
    cr_assert_eq(picture_read(&p, "a", &fault), 0, "%s", fault.text);
    cr_expect(p.width == 3 && p.height == 2 && p.channels == 1 && p.bits == 8 && p.maximum == 9);
    cr_expect_arr_eq(p.samples, ((uint8_t[]){0, 1, 2, 3, 4, 9}), 6);
    picture_free(&p);
}

Test(pictures, sixteen_bits_have_the_higher_byte_first)
{
    put("a", "P5 1 2 300\n\x01\x02\x00\x03", 15);
    cr_assert_eq(picture_read(&p, "a", &fault), 0, "%s", fault.text);
    cr_expect_arr_eq(p.samples, ((uint16_t[]){0x102, 3}), 4);
    picture_free(&p);
}

#define REFUSED(text, sentence) expect_refused(text, sizeof text - 1, sentence)

Test(pictures, what_is_no_picture)
{
    REFUSED("", "a is empty; it should be a picture.");
    REFUSED("GIF89a", "a is not a picture; PNG, PGM, PPM, PFM and .npy can be read.");
    REFUSED("P", "a is not a picture");
    REFUSED("P2 1 1 9 1\n", "a is a P2 picture; make it a PGM or a PPM in binary, or a PNG.");
    REFUSED("P7\n", "a is a P7 picture");
    REFUSED("P5 3 x", "width, height and a maximum from 1 to 65535 do not follow");
    REFUSED("P5 3 2 70000\n", "a maximum from 1 to 65535");
    REFUSED("P5 3 2 0\n", "a maximum from 1 to 65535");
    REFUSED("P5 0 2 255\n", "a has no pixels: it is 0 x 2.");
    REFUSED("P5 3 2 255\nabcde", "a ends before its last pixel; it is truncated.");
    REFUSED("P5 2 1 9\n\x09\x0a", "sample 1 is 10, more than its maximum, 9.");
    REFUSED("P5 2 1 99\n345", "a goes on after its last pixel; take a file of one picture");
    REFUSED("P5 2 1 99\n34\0x", "a goes on after its last pixel");
    REFUSED("P5 2 1 9\r\n34", "sample 0 is 10, more than its maximum");
    REFUSED("P5 2 1 99\r\n34", "a goes on after its last pixel");
    REFUSED("P5 9000000000 9000000000 255\n", "do not fit into memory");
    REFUSED("P5 90000000000000000000000 1 255\n", "do not follow");
}

/* ---- floats ---------------------------------------------------------------------------------- */

static void expect_floats(const char *content, size_t length, size_t width, size_t height,
                          unsigned channels, const float *want)
{
    put("a", content, length);
    cr_assert_eq(picture_read(&p, "a", &fault), 0, "%s", fault.text);
    cr_assert(p.width == width && p.height == height && p.channels == channels && p.bits == 32);
    cr_expect_arr_eq(p.samples, want, picture_samples(&p) * sizeof *want);
    picture_free(&p);
}

#define FLOATS(text, ...) expect_floats(text, sizeof text - 1, __VA_ARGS__)
#define HEADER(descr, order, shape)                                                                \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape "}\n"

Test(pictures, floats_from_the_lowest_row_to_the_highest)
{
    FLOATS("Pf\n2 2\n1\n\x3f\x80\0\0\x40\0\0\0\x40\x40\0\0\x40\x80\0\0", 2, 2, 1,
           ((float[]){3, 4, 1, 2}));
    FLOATS("PF\n1 1\n-0.5\n\0\0\x80\x3f\0\0\0\x40\0\0\x40\xc0", 1, 1, 3, ((float[]){1, 2, -3}));
    REFUSED("Pf\n2 2\n0\nabcd", "a begins as a Pf picture, but width, height and a scale that");
    REFUSED("Pf\n2 2\nnan\nabcd", "a scale that is not 0 do not follow.");
    REFUSED("PF\n2 2\n", "a scale that is not 0 do not follow.");
    REFUSED("Pf\n2 2\n00000000000000000000000000000000000000001\nabcd", "a scale that is not 0");
    REFUSED("Pf\n1 1\n-1\nabc", "a ends before its last pixel; it is truncated.");
    REFUSED("Pf\n1 1\n-1\nabcde", "a goes on after its last pixel");
    REFUSED("Pf\n0 1\n-1\n", "a has no pixels: it is 0 x 1.");
}

Test(pictures, npy_arrays_of_floats)
{
#define NPY(length, header) "\x93NUMPY\1\0" length "\0" header
    FLOATS(NPY("\x3a", HEADER(">f4", "False", "(1, 2)")) "\x3f\x80\0\0\x40\0\0\0", 2, 1, 1,
           ((float[]){1, 2}));
    FLOATS(NPY("\x3d", HEADER("<f4", "False", "(1, 1, 3)")) "\0\0\x80\x3f\0\0\0\x40\0\0\0\0", 1, 1,
           3, ((float[]){1, 2, 0}));
    REFUSED(NPY("\x38", HEADER("<f4", "False", "(2,)")), "a picture in a .npy file is height x");
    REFUSED(NPY("\x3d", HEADER("<f4", "False", "(1, 1, 2)")), "height x width x 1, 3 or 4");
    REFUSED(NPY("\x40", HEADER("<f4", "False", "(1, 1, 1, 1)")), "such an array is no picture");
    REFUSED(NPY("\x36", HEADER("<f4", "False", "()")), "such an array is no picture");
    REFUSED(NPY("\x39", HEADER("<f4", "True", "(1, 1)")), "has the columns of its array one after");
    REFUSED(NPY("\x3a", HEADER("<f8", "False", "(1, 1)")), "a picture has uint8 or uint16, or");
    REFUSED(NPY("\x3a", HEADER("<f4", "False", "(0, 1)")), "a has no pixels: it is 1 x 0.");
    REFUSED(NPY("\x3a", HEADER("<f4", "False", "(1, 1)")) "abc", "a ends before its last pixel");
    REFUSED(NPY("\x3a", HEADER("<f4", "False", "(1, 1)")) "abcde",
            "a goes on after its last pixel");
    REFUSED("\x93NUMPX", "a is no usable .npy file");
}

#define WHOLE(text, bits, ...)                                                                     \
    expect_picture(text, sizeof text - 1, bits, __VA_ARGS__, sizeof(__VA_ARGS__))

static void expect_picture(const char *content, size_t length, unsigned bits, const void *want,
                           size_t bytes)
{
    put("a", content, length);
    cr_assert_eq(picture_read(&p, "a", &fault), 0, "%s", fault.text);
    cr_expect(p.bits == bits && p.maximum == (1u << bits) - 1);
    cr_expect(picture_samples(&p) * bits / 8 == bytes && !memcmp(p.samples, want, bytes));
    picture_free(&p);
}

Test(pictures, npy_arrays_of_8_and_16_bits)
{
    WHOLE(NPY("\x3a", HEADER("|u1", "False", "(1, 2)")) "\1\xff", 8, (uint8_t[]){1, 255});
    WHOLE(NPY("\x3d", HEADER("<u1", "False", "(1, 1, 4)")) "\1\2\3\4", 8, (uint8_t[]){1, 2, 3, 4});
    WHOLE(NPY("\x3a", HEADER("<u2", "False", "(2, 1)")) "\1\2\3\0", 16, (uint16_t[]){0x201, 3});
    WHOLE(NPY("\x3a", HEADER(">u2", "False", "(2, 1)")) "\1\2\3\0", 16, (uint16_t[]){258, 768});
    REFUSED(NPY("\x3a", HEADER("|b1", "False", "(1, 1)")) "\1", "has elements of type '|b1'; a");
}

Test(pictures, paths_that_cannot_be_written)
{
    struct picture p = made(2, 2, 4, 8);
    cr_expect_eq(picture_check_path("a.ppm", 4, &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, "4 channels has to be a .png"), "%s", fault.text);
    cr_expect_eq(picture_check_path("a.jpg", 1, &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, "has to end in .png or .pgm"), "%s", fault.text);
    cr_expect_eq(picture_check_path("a.pgm", 3, &fault), EXIT_USAGE);
    p.channels = 1;
    cr_expect_eq(picture_write(&p, "none/a.pgm", &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, "cannot write none/a.pgm"), "%s", fault.text);
    cr_assert_eq(symlink("/dev/full", "a.pgm"), 0);
    cr_expect_eq(picture_write(&p, "a.pgm", &fault), EXIT_USAGE);
    cr_expect_str_eq(fault.text, "cannot write a.pgm: No space left on device.");
    picture_free(&p);
}

/* ---- PNG ------------------------------------------------------------------------------------- */

/* CI installs libpng (make setup), so none of these tests is skipped there. */
static void need_png(void)
{
    if (png_is_supported()) return;
    cr_assert(!getenv("CI"), "libpng is not installed");
    cr_skip_test("libpng is not installed");
}

Test(pictures, png_there_and_back)
{
    need_png();
    for (unsigned bits = 8; bits <= 16; bits += 8) {
        expect_there_and_back(made(7, 5, 1, bits), "a.png");
        expect_there_and_back(made(31, 2, 3, bits), "a.png");
        expect_there_and_back(made(1, 9, 4, bits), "a.png");
    }
}

Test(pictures, png_of_another_maximum_gets_the_full_range)
{
    need_png();
    struct picture p = {3, 1, 1, 8, 9, (uint8_t[]){0, 3, 9}}, again;
    cr_assert_eq(picture_write(&p, "a.png", &fault), 0, "%s", fault.text);
    cr_assert_eq(picture_read(&again, "a.png", &fault), 0, "%s", fault.text);
    cr_expect_arr_eq(again.samples, ((uint8_t[]){0, 85, 255}), 3);
    picture_free(&again);
}

Test(pictures, truncated_or_damaged_png)
{
    need_png();
    struct picture p = made(40, 30, 3, 8);
    unsigned char whole[8000];
    cr_assert_eq(picture_write(&p, "a.png", &fault), 0);
    picture_free(&p);
    size_t length = get("a.png", whole, sizeof whole);
    for (size_t part = 2; part < length; part += part < 60 ? 1 : 97)
        expect_refused((char *)whole, part, "a ends before its last pixel; it is truncated.");
    whole[length] = 'x';
    expect_refused((char *)whole, length + 1, "a goes on after its last pixel");
    memcpy(whole + length, "\n\0", 2);
    put("a", (char *)whole, length + 2);
    cr_expect_eq(picture_read(&p, "a", &fault), 0, "%s", fault.text);
    picture_free(&p);
    whole[length / 2] ^= 0x55;
    expect_refused((char *)whole, length, "a is a PNG that cannot be read: libpng says \"");
    whole[1] = 'Q';
    expect_refused((char *)whole, length, "a is not a picture");
}

/* Rows of 17 GB are refused before memory for them is allocated. */
Test(pictures, a_png_that_does_not_fit, .timeout = 10)
{
    need_png();
    char path[PATH_MAX + 100];
    snprintf(path, sizeof path, "%s/build/tests/measure/fuzz/corpus/picture/png-huge", top);
    cr_expect_eq(picture_read(&p, path, &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, "2147483647 x 2147483647 pixels do not fit into memory."), "%s",
              fault.text);
}

#if __has_include(<png.h>)
enum { SIDE = 11 };

/* A PNG of SIDE x SIDE pixels, all rows of which have these bytes in the file. */
static void make_png(int color, int bits, int interlace, bool transparent, png_bytep row)
{
    static const png_color palette[] = {{1, 2, 3}, {40, 50, 60}, {7, 8, 9}, {255, 254, 253}};
    static const png_byte alpha[] = {0, 255};
    static const png_color_16 grey = {.gray = 1};
    png_bytep rows[SIDE];
    for (int y = 0; y < SIDE; y++) rows[y] = row;
    FILE *file = fopen("a.png", "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, SIDE, SIDE, bits, color, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (color == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 4);
    if (transparent && color == PNG_COLOR_TYPE_PALETTE) png_set_tRNS(png, info, alpha, 2, NULL);
    if (transparent && color == PNG_COLOR_TYPE_GRAY) png_set_tRNS(png, info, NULL, 1, &grey);
    png_write_info(png, info);
    png_write_image(png, rows);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(file);
}

/* Interlaced files, palettes, few bits and transparency, by the first samples that are read: those
 * of pixels 0, 1, 2 and 3. */
Test(pictures, any_form_of_png)
{
    enum { NONE = PNG_INTERLACE_NONE, ADAM7 = PNG_INTERLACE_ADAM7 };
    static const struct {
        int color, bits, interlace;
        bool transparent;
        unsigned channels, samples;
        png_byte row[2 * SIDE], want[12];
    } cases[] = {
        {PNG_COLOR_TYPE_GRAY, 8, ADAM7, false, 1, 4, {5, 6, 7, 8}, {5, 6, 7, 8}},
        {PNG_COLOR_TYPE_GRAY, 2, NONE, false, 1, 4, {0x1b}, {0, 85, 170, 255}},
        {PNG_COLOR_TYPE_GRAY, 2, NONE, true, 4, 8, {0x1b}, {0, 0, 0, 255, 85, 85, 85, 0}},
        {PNG_COLOR_TYPE_GRAY_ALPHA, 8, NONE, false, 4, 8, {0, 1, 2, 3}, {0, 0, 0, 1, 2, 2, 2, 3}},
        {PNG_COLOR_TYPE_PALETTE, 2, NONE, true, 4, 8, {0x1b}, {1, 2, 3, 0, 40, 50, 60, 255}},
        {PNG_COLOR_TYPE_PALETTE, 2, NONE, false, 3, 12, {0x1b},
         {1, 2, 3, 40, 50, 60, 7, 8, 9, 255, 254, 253}},
    };
    need_png();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        png_byte row[2 * SIDE];
        memcpy(row, cases[i].row, sizeof row);
        make_png(cases[i].color, cases[i].bits, cases[i].interlace, cases[i].transparent, row);
        cr_assert_eq(picture_read(&p, "a.png", &fault), 0, "%s", fault.text);
        cr_expect(p.width == SIDE && p.height == SIDE && p.bits == 8, "case %zu", i);
        cr_expect_eq(p.channels, cases[i].channels, "case %zu", i);
        for (int y = 0; y < SIDE; y++)
            cr_expect_arr_eq((char *)p.samples + y * SIDE * p.channels, cases[i].want,
                             cases[i].samples, "case %zu, row %d", i, y);
        picture_free(&p);
    }
}
#endif
