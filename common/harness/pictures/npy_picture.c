/*
 * npy_picture.c — a .npy array of uint8, uint16 or float32 as a picture: height x width, or
 * height x width x channels.
 */
#include "picture.h"

#include "common/harness/input/input_npy.h"

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
