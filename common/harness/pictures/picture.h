/*
 * picture.h — pictures as files: PNG, PGM and PPM, read and written; PFM and .npy, read.
 *
 * Only programs that work on pictures are linked with this folder. PNG needs libpng: without it
 * png.c refuses PNG files by name.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include "common/files/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Rows from top to bottom, pixels from left to right, the samples of a pixel side by side. */
struct picture {
    size_t width, height; /* pixels, at least 1 */
    unsigned channels;    /* 1: grey, 3: RGB, 4: RGBA */
    unsigned bits;        /* 8, 16, 32: samples are uint8_t, uint16_t or float of this machine */
    unsigned maximum;     /* the sample that means white: 255 or 65535, or what a PGM or PPM says;
                             0 for floats, which may be any, also NaN and infinities */
    void *samples;        /* width * height * channels of them; picture_free gives them back */
};

/* Reads a file ("-": stdin), which is recognized by its content: PGM and PPM (P5, P6), PFM
 * (Pf, PF), PNG, or .npy (uint8, uint16 or float32, height x width or height x width x channels).
 * White space and zeros may follow. A PNG's palette becomes RGB. A picture with transparency gets a
 * fourth channel, and grey with transparency becomes RGBA. Samples of 1, 2 and 4 bits become 8 bits
 * wide. Returns 0, or EXIT_USAGE with the sentence: the file is not a picture, ends too early, goes
 * on behind its last pixel, or does not fit into memory. Then there is nothing to free. */
int picture_read(struct picture *, const char *path, struct fault *);
/* Reads a picture from an open file, which the caller closes. `name` is for the sentence. */
int picture_read_file(struct picture *, FILE *, const char *name, struct fault *);

/* Can a picture with this number of channels be written to this path? The end of the path decides
 * the format: .png, .pgm (grey), .ppm (RGB) or .pnm (either); "-" is a PGM or PPM on stdout.
 * Returns 0 or EXIT_USAGE. */
int picture_check_path(const char *path, unsigned channels, struct fault *);

/* Writes the whole file or nothing of it. The picture has 8 or 16 bits. Returns 0 or EXIT_USAGE. */
int picture_write(const struct picture *, const char *path, struct fault *);

void picture_free(struct picture *);

size_t picture_samples(const struct picture *);

/* ---- for the readers and writers: picture.c, png.c ------------------------------------------- */

/* Is this program linked with libpng? */
bool png_is_supported(void);

int png_read(struct picture *, FILE *, const char *name, struct fault *);

int png_write(const struct picture *, FILE *);

/* Makes room for the samples of a picture of this size. EXIT_USAGE if memory does not suffice. */
int picture_reserve(struct picture *, const char *name, struct fault *);

/* Samples of 16 bits: from the order of bytes in files (the higher one first) to this machine's. */
void picture_from_big_endian(uint16_t *samples, size_t count);

#endif
