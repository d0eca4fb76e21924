/*
 * input_npy.c — NumPy's .npy files: numpy.lib.format, "Format Version 1.0" to "3.0".
 *
 *     "\x93NUMPY", major, minor, length of the header (2 bytes; 4 from version 2 on),
 *     the header: a Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (5,), }
 *     the elements
 */
#include "input.h"

#include "common/harness/print/format.h"
#include "input_npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEADER_MAX 65536 /* of ours; a 1-D file needs about a hundred bytes */
#define CHUNK      8192  /* elements read at a time */

/* fread; an error if there are fewer bytes than wanted. */
static int read_exactly(FILE *file, const char *name, void *to, size_t bytes, struct fault *fault)
{
    if (fread(to, 1, bytes, file) == bytes) return 0;
    if (ferror(file)) return fail(fault, EXIT_USAGE, "cannot read %s: %s.", name, strerror(errno));
    return npy_malformed(name, "it ends within its header", fault);
}

static int read_header_text(FILE *file, const char *name, char **text, struct fault *fault)
{
    unsigned char start[8], length_bytes[4] = {0};
    int code = read_exactly(file, name, start, sizeof start, fault);
    if (code) return code;
    if (memcmp(start, "\x93NUMPY", 6) != 0)
        return npy_malformed(name, "it begins with byte 0x93 but not with \\x93NUMPY", fault);
    if (start[6] < 1 || start[6] > 3)
        return npy_malformed(name, "its format version is not 1, 2 or 3", fault);
    code = read_exactly(file, name, length_bytes, start[6] == 1 ? 2 : 4, fault);
    if (code) return code;
    size_t length = (size_t)length_bytes[0] | (size_t)length_bytes[1] << 8 |
                    (size_t)length_bytes[2] << 16 | (size_t)length_bytes[3] << 24;
    if (length > HEADER_MAX) return npy_malformed(name, "its header is longer than 64 KiB", fault);
    *text = allocated(calloc(1, length + 1));
    code = read_exactly(file, name, *text, length, fault);
    if (!code && strlen(*text) != length)
        code = npy_malformed(name, "there is a zero byte in its header", fault);
    return code;
}

int npy_header_read(struct npy_header *header, FILE *file, const char *name, struct fault *fault)
{
    char *text = NULL;
    int code = read_header_text(file, name, &text, fault);
    if (!code) code = npy_header_parse(header, text, name, fault);
    free(text);
    return code;
}

static void swap_bytes(unsigned char *elements, size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++, elements += size)
        for (size_t b = 0; b < size / 2; b++) {
            unsigned char byte = elements[b];
            elements[b] = elements[size - 1 - b];
            elements[size - 1 - b] = byte;
        }
}

/* The element type that holds this kind of number in memory. */
static const enum element elements[] = {
    [NPY_F4] = ELEMENT_F32, [NPY_F8] = ELEMENT_F64, [NPY_I4] = ELEMENT_I32,
    [NPY_I8] = ELEMENT_I64, [NPY_U4] = ELEMENT_U32, [NPY_U8] = ELEMENT_U64,
};

/* Converts element i of a chunk and stores it at `index`; `shown` is what the file has. */
static enum conversion store(enum npy_kind kind, const void *chunk, size_t i, struct input *input,
                             size_t index, char *shown, size_t size)
{
    enum conversion conversion;
    /* The bits of a float stay as they are, which a NaN's would not as a double. */
    if (kind == NPY_F4 && input->element == ELEMENT_F32) {
        memcpy((float *)input->data + index, (const float *)chunk + i, sizeof(float));
        return CONVERT_EXACT;
    }
    switch (kind) {
    case NPY_F4:
    case NPY_F8: {
        double value =
            kind == NPY_F4 ? (double)((const float *)chunk)[i] : ((const double *)chunk)[i];
        conversion = element_store_real(input->element, input->data, index, value);
        break;
    }
    case NPY_U4:
    case NPY_U8: {
        uint64_t value =
            kind == NPY_U4 ? ((const uint32_t *)chunk)[i] : ((const uint64_t *)chunk)[i];
        conversion = element_store_unsigned(input->element, input->data, index, value);
        break;
    }
    default: {
        int64_t value = kind == NPY_I4 ? ((const int32_t *)chunk)[i] : ((const int64_t *)chunk)[i];
        conversion = element_store_integer(input->element, input->data, index, value);
    }
    }
    if (conversion != CONVERT_EXACT) element_text(elements[kind], chunk, i, shown, size);
    return conversion;
}

enum element input_npy_element(const struct npy_header *header) { return elements[header->kind]; }

int input_read_npy_elements(struct reader *reader, const struct npy_header *header, size_t first,
                            size_t count, struct input *input, struct fault *fault)
{
    size_t size = element_size(elements[header->kind]);
    int64_t chunk[CHUNK]; /* of either size, aligned for both */
    for (size_t done = 0; done < count;) {
        size_t wanted = count - done < CHUNK ? count - done : CHUNK;
        size_t got = fread(chunk, size, wanted, reader->file);
        if (got < wanted && ferror(reader->file))
            return fail(fault, EXIT_USAGE, "cannot read %s: %s.", reader->name, strerror(errno));
        if (got < wanted)
            return fail(fault, EXIT_USAGE,
                        "%s is truncated: its header promises %zu element%s, but the file has %zu.",
                        reader->name, header->n, plural(header->n), first + done + got);
        if (header->swap) swap_bytes((unsigned char *)chunk, size, got);
        for (size_t i = 0; i < got; i++) {
            char shown[48];
            enum conversion conversion =
                store(header->kind, chunk, i, input, done + i, shown, sizeof shown);
            if (!input_takes(reader, conversion))
                return input_refuse(reader, conversion, first + done + i, shown, fault);
        }
        done += got;
    }
    return 0;
}

static int check_end(struct reader *reader, const struct npy_header *header, struct fault *fault)
{
    if (getc(reader->file) != EOF)
        return fail(fault, EXIT_USAGE,
                    "%s goes on after the %zu element%s that its header promises.", reader->name,
                    header->n, plural(header->n));
    return 0;
}

int input_read_npy(struct reader *reader, struct input *input, struct fault *fault)
{
    struct npy_header header = {.most = 1};
    int code = npy_header_read(&header, reader->file, reader->name, fault);
    if (code) return code;
    if (header.n == 0)
        return fail(fault, EXIT_USAGE, "%s has no elements; there is nothing to scan.",
                    reader->name);
    if (reader->max_n && header.n > reader->max_n) {
        input->n = header.n; /* options_check_n says it better */
        return 0;
    }
    code = input_reserve(reader, input, header.n, fault);
    if (!code) code = input_read_npy_elements(reader, &header, 0, header.n, input, fault);
    if (!code) code = check_end(reader, &header, fault);
    if (!code) input->n = header.n;
    return code;
}

bool input_npy_type(const char *path, enum element *element)
{
    struct npy_header header = {.most = 1};
    struct fault ignored;
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false; /* a pipe reads once */
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    bool is_npy = npy_header_read(&header, file, path, &ignored) == 0;
    fclose(file);
    if (is_npy) *element = input_npy_element(&header);
    return is_npy;
}
