/* input_npy.c — NumPy's .npy files, also a part of one. */
#define _POSIX_C_SOURCE 200809L /* fseeko */
#include "input.h"
#include "common/harness/print/print.h"
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- {'descr': '<f4', 'fortran_order': False, 'shape': (5,), } ------------------------------- */

/* The form that NumPy writes. White space and the last comma may differ. */

#define SHAPE_SHOWN 60 /* bytes of the shape in a sentence */

/* Fails with "FILE is no usable .npy file: what." */
static int npy_malformed(const char *name, const char *what, struct fault *fault)
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

/* Reads the header's text, which has no zero byte. `name` is the file's, for sentences. Returns 0,
 * or EXIT_USAGE if NumPy does not write such a header for an array of numbers, or what of it is not
 * supported: more than header->most dimensions, or elements other than float32, float64,
 * int32, int64, uint32 and uint64, of a picture other than uint8, uint16 and float32. */
static int npy_header_parse(struct npy_header *header, const char *text, const char *name,
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

/* ---- NumPy's .npy files: numpy.lib.format, "Format Version 1.0" to "3.0" --------------------- */

/*
 *     "\x93NUMPY", major, minor, length of the header (2 bytes; 4 from version 2 on),
 *     the header: a Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (5,), }
 *     the elements
 */

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
    long double value;
    /* The bits of a float stay as they are, which a NaN's would not as a double. */
    if (kind == NPY_F4 && input->element == ELEMENT_F32) {
        memcpy((float *)input->data + index, (const float *)chunk + i, sizeof(float));
        return CONVERT_EXACT;
    }
    element_widen(elements[kind], chunk, i, 1, &value);
    if (element_is_real(elements[kind]))
        conversion = element_store_real(input->element, input->data, index, (double)value);
    else if (kind == NPY_U8)
        conversion = element_store_unsigned(input->element, input->data, index, (uint64_t)value);
    else
        conversion = element_store_integer(input->element, input->data, index, (int64_t)value);
    if (conversion != CONVERT_EXACT) element_text(elements[kind], chunk, i, shown, size);
    return conversion;
}

/* The file has fewer elements than its header promises, or more. */
static int too_short(const char *name, size_t promised, size_t there, struct fault *fault)
{
    return fail(fault, EXIT_USAGE,
                "%s is truncated: its header promises %zu element%s, but the file has %zu.", name,
                promised, plural(promised), there);
}

static int too_long(const char *name, size_t promised, struct fault *fault)
{
    return fail(fault, EXIT_USAGE, "%s goes on after the %zu element%s that its header promises.",
                name, promised, plural(promised));
}

/* Some elements of a .npy file, which stands before them; `first` is the first one's index in the
 * file. They become input->data[0..count), for which there is room. */
static int input_read_npy_elements(struct reader *reader, const struct npy_header *header,
                                   size_t first, size_t count, struct input *input,
                                   struct fault *fault)
{
    size_t size = element_size(elements[header->kind]);
    int64_t chunk[CHUNK]; /* of either size, aligned for both */
    for (size_t done = 0; done < count;) {
        size_t wanted = count - done < CHUNK ? count - done : CHUNK;
        size_t got = fread(chunk, size, wanted, reader->file);
        if (got < wanted && ferror(reader->file))
            return fail(fault, EXIT_USAGE, "cannot read %s: %s.", reader->name, strerror(errno));
        if (got < wanted) return too_short(reader->name, header->n, first + done + got, fault);
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
    if (!code && getc(reader->file) != EOF) code = too_long(reader->name, header.n, fault);
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
    if (is_npy) *element = elements[header.kind];
    return is_npy;
}

/* ---- reads a part of a .npy file, so that no program needs memory for all of it -------------- */

/* Opens it and looks at its first byte: only a .npy file has its elements at places that are known.
 * To open a pipe would wait for a writer. */
static int open_regular(struct npy_file *f, struct fault *fault)
{
    struct stat status;
    if (stat(f->path, &status) == 0 && !S_ISREG(status.st_mode))
        return fail(fault, EXIT_USAGE,
                    "%s is no regular file, and cannot be read by parts; copy it into one.",
                    f->path);
    f->file = fopen(f->path, "rb");
    if (!f->file) return fail(fault, EXIT_USAGE, "cannot open %s: %s.", f->path, strerror(errno));
    f->length = status.st_size;
    int first = getc(f->file);
    if (first == EOF)
        return fail(fault, EXIT_USAGE, "%s is empty; there is nothing to scan.", f->path);
    ungetc(first, f->file);
    if (first != NPY_FIRST_BYTE)
        return fail(fault, EXIT_USAGE,
                    "%s is no .npy file, and text cannot be read by parts; numpy.save() makes a "
                    ".npy file.",
                    f->path);
    return 0;
}

/* The type that holds the file's elements. */
static enum element npy_file_type(const struct npy_file *f) { return elements[f->header.kind]; }

/* Has the file as many elements as its header promises? */
static int check_length(const struct npy_file *f, struct fault *fault)
{
    size_t promised = f->header.n, size = element_size(npy_file_type(f)), bytes;
    if (promised == 0)
        return fail(fault, EXIT_USAGE, "%s has no elements; there is nothing to scan.", f->path);
    size_t there = (size_t)(f->length - f->start);
    if (__builtin_mul_overflow(promised, size, &bytes) || there < bytes)
        return too_short(f->path, promised, there / size, fault);
    return there > bytes ? too_long(f->path, promised, fault) : 0;
}

int npy_file_open(struct npy_file *f, const char *path, struct fault *fault)
{
    *f = (struct npy_file){.path = path, .header = {.most = 1}};
    int code = open_regular(f, fault);
    if (!code) code = npy_header_read(&f->header, f->file, path, fault);
    if (!code) {
        f->start = ftell(f->file);
        code = check_length(f, fault);
    }
    if (code) npy_file_close(f);
    return code;
}

int npy_file_read(struct npy_file *f, struct input *input, enum element element,
                  struct input_part part, struct fault *fault)
{
    struct reader reader = {.file = f->file, .name = f->path, .element = element};
    off_t at = f->start + (off_t)(part.first * element_size(npy_file_type(f)));
    *input = (struct input){.element = element, .n = part.count};
    int code = input_reserve(&reader, input, part.count, fault);
    if (!code && fseeko(f->file, at, SEEK_SET) != 0)
        code = fail(fault, EXIT_USAGE, "cannot read %s: %s.", f->path, strerror(errno));
    if (!code)
        code = input_read_npy_elements(&reader, &f->header, part.first, part.count, input, fault);
    input->rounded = reader.has_rounded;
    if (code) input_free(input);
    return code;
}

void npy_file_close(struct npy_file *f)
{
    if (f->file) fclose(f->file);
    *f = (struct npy_file){0};
}
