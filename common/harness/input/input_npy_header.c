/*
 * input_npy_header.c — reads {'descr': '<f4', 'fortran_order': False, 'shape': (5,), }, the form
 * that NumPy writes. White space and the last comma may differ.
 */
#include "input_npy.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE_SHOWN 60 /* bytes of the shape in a sentence */

int npy_malformed(const char *name, const char *what, struct fault *fault)
{
    return fail(fault, EXIT_USAGE, "%s is no usable .npy file: %s.", name, what);
}

static int refuse_form(const char *name, struct fault *fault)
{
    return npy_malformed(name,
                         "its header is not {'descr': '<f4', 'fortran_order': False, 'shape': "
                         "(5,), }, as NumPy writes it for an array of numbers",
                         fault);
}

static int read_descr(struct npy_header *header, const char *type, const char *name,
                      struct fault *fault)
{
    static const struct {
        const char *code;
        enum npy_kind kind;
        bool in_scans, in_pictures;
    } kinds[] = {{"f4", NPY_F4, true, true},  {"f8", NPY_F8, true, false},
                 {"i4", NPY_I4, true, false}, {"i8", NPY_I8, true, false},
                 {"u4", NPY_U4, true, false}, {"u8", NPY_U8, true, false},
                 {"u1", NPY_U1, false, true}, {"u2", NPY_U2, false, true}};
    bool is_picture = header->most > 1;
    const uint16_t one = 1;
    bool little_host = *(const unsigned char *)&one == 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!(is_picture ? kinds[i].in_pictures : kinds[i].in_scans)) continue;
        if (!strchr("<>=|", *type) || strcmp(type + 1, kinds[i].code) != 0) continue;
        header->kind = kinds[i].kind;
        header->lowest_first = strchr("=|", *type) ? little_host : *type == '<';
        header->swap = header->lowest_first != little_host;
        return 0;
    }
    return fail(fault, EXIT_USAGE, "%s has elements of type '%s'; %s.", name, type,
                is_picture ? "a picture has uint8 or uint16, or float32 where it is neither "
                             "filtered nor a depth map"
                           : "it takes float32, float64, int32, int64, uint32 or uint64");
}

/* The text 5,) or 2, 3) and what follows. Sizes that are too large become the largest, which no
 * memory holds. */
static int read_shape(struct npy_header *header, const char *shape, const char *name,
                      struct fault *fault)
{
    char *at = (char *)(uintptr_t)shape;
    int length = (int)strcspn(shape, ")"), end = 0;
    unsigned dimensions = 0;
    header->n = 1;
    for (; isdigit((unsigned char)*at); at += strspn(at, ", ")) {
        size_t size = strtoull(at, &at, 10);
        if (__builtin_mul_overflow(header->n, size, &header->n)) header->n = SIZE_MAX;
        if (dimensions < NPY_DIMENSIONS) header->shape[dimensions] = size;
        dimensions++;
    }
    header->dimensions = dimensions;
    sscanf(at, " ) , } %n", &end);
    if (!end) sscanf(at, " ) } %n", &end);
    if (!end || at[end]) return refuse_form(name, fault);
    if (dimensions && dimensions <= header->most) return 0;
    return fail(fault, EXIT_USAGE, "%s has the shape (%.*s); %s.", name,
                length < SHAPE_SHOWN ? length : SHAPE_SHOWN, shape,
                header->most > 1 ? "such an array is no picture"
                                 : "only one dimension can be scanned (in NumPy: a.ravel())");
}

int npy_header_parse(struct npy_header *header, const char *text, const char *name,
                     struct fault *fault)
{
    char type[8], order[8];
    int at = 0;
    sscanf(text, " { 'descr' : '%7[^']' , 'fortran_order' : %7[A-Za-z] , 'shape' : ( %n", type,
           order, &at);
    if (!at) return refuse_form(name, fault);
    header->by_columns = strcmp(order, "True") == 0;
    if (!header->by_columns && strcmp(order, "False") != 0) return refuse_form(name, fault);
    int code = read_descr(header, type, name, fault);
    return code ? code : read_shape(header, text + at, name, fault);
}
