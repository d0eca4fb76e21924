/*
 * input_npy.c — NumPy's .npy files: numpy.lib.format, "Format Version 1.0" to "3.0".
 *
 *     "\x93NUMPY", major, minor, length of the header (2 bytes; 4 from version 2 on),
 *     the header: a Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (5,), }
 *     the elements
 */
#include "input.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_MAX 65536 /* of ours; a 1-D file needs about a hundred bytes */
#define CHUNK      8192  /* elements read at a time */

enum kind { F4, F8, I4, I8 };

struct header {
    enum kind kind;
    bool swap; /* the file's byte order is not this machine's */
    size_t n;
};

static int malformed(const struct reader *reader, const char *what, struct fault *fault)
{
    return fail(fault, EXIT_USAGE, "%s is no usable .npy file: %s.", reader->name, what);
}

/* fread, and what it means if there is not enough. */
static int read_exactly(struct reader *reader, void *to, size_t bytes, struct fault *fault)
{
    if (fread(to, 1, bytes, reader->file) == bytes) return 0;
    if (ferror(reader->file))
        return fail(fault, EXIT_USAGE, "cannot read %s: %s.", reader->name, strerror(errno));
    return malformed(reader, "it ends within its header", fault);
}

static int read_header_text(struct reader *reader, char **text, struct fault *fault)
{
    unsigned char start[8], length_bytes[4] = {0};
    int code = read_exactly(reader, start, sizeof start, fault);
    if (code) return code;
    if (memcmp(start, "\x93NUMPY", 6) != 0)
        return malformed(reader, "it begins with byte 0x93 but not with \\x93NUMPY", fault);
    if (start[6] < 1 || start[6] > 3)
        return malformed(reader, "its format version is not 1, 2 or 3", fault);
    code = read_exactly(reader, length_bytes, start[6] == 1 ? 2 : 4, fault);
    if (code) return code;
    size_t length = (size_t)length_bytes[0] | (size_t)length_bytes[1] << 8 |
                    (size_t)length_bytes[2] << 16 | (size_t)length_bytes[3] << 24;
    if (length > HEADER_MAX) return malformed(reader, "its header is longer than 64 KiB", fault);
    *text = calloc(1, length + 1);
    if (!*text) return malformed(reader, "its header does not fit into memory", fault);
    code = read_exactly(reader, *text, length, fault);
    if (!code && strlen(*text) != length)
        code = malformed(reader, "there is a zero byte in its header", fault);
    return code;
}

/* What follows 'key': in the dictionary, or NULL. */
static const char *value_of(const char *header, const char *key)
{
    for (const char *at = header; (at = strstr(at, key)); at++) {
        if (at == header || (at[-1] != '\'' && at[-1] != '"')) continue;
        const char *end = at + strlen(key);
        if (*end != at[-1]) continue;
        for (end++; *end == ' '; end++) {}
        if (*end != ':') continue;
        for (end++; *end == ' '; end++) {}
        return end;
    }
    return NULL;
}

static int parse_descr(const struct reader *reader, const char *text, struct header *header,
                       struct fault *fault)
{
    static const struct {
        const char *code;
        enum kind kind;
    } kinds[] = {{"f4", F4}, {"f8", F8}, {"i4", I4}, {"i8", I8}};
    if (!text) return malformed(reader, "its header has no 'descr'", fault);
    char quote = *text;
    const char *end = quote == '\'' || quote == '"' ? strchr(text + 1, quote) : NULL;
    if (!end) return malformed(reader, "its elements are structures", fault);
    text++;
    char order = *text;
    const uint16_t one = 1;
    bool little_host = *(const unsigned char *)&one == 1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (end - text != 3 || !strchr("<>=", order) || strncmp(text + 1, kinds[i].code, 2) != 0)
            continue;
        header->kind = kinds[i].kind;
        header->swap = order != '=' && (order == '<') != little_host;
        return 0;
    }
    return fail(fault, EXIT_USAGE,
                "%s has elements of type '%.*s'; it takes float32, float64, int32 or int64.",
                reader->name, (int)(end - text > 30 ? 30 : end - text), text);
}

/* (5,) and nothing else. */
static int parse_shape(const struct reader *reader, const char *text, struct header *header,
                       struct fault *fault)
{
    if (!text || *text != '(') return malformed(reader, "its header has no 'shape'", fault);
    const char *close = strchr(text, ')');
    if (!close) return malformed(reader, "its 'shape' does not end", fault);
    int shown = (int)(close + 1 - text > 60 ? 60 : close + 1 - text);
    char *end;
    errno = 0;
    const char *digits = text + 1 + strspn(text + 1, " ");
    unsigned long long n = strtoull(digits, &end, 10);
    bool number = isdigit((unsigned char)*digits) && !errno;
    end += strspn(end, " L");
    bool comma = *end == ',';
    if (comma) end += 1 + strspn(end + 1, " ");
    if (!number || !comma || end != close)
        return fail(
            fault, EXIT_USAGE,
            "%s has the shape %.*s; only one dimension can be scanned (in NumPy: a.ravel()).",
            reader->name, shown, text);
    header->n = n;
    return 0;
}

static int parse_header(struct reader *reader, struct header *header, struct fault *fault)
{
    char *text = NULL;
    int code = read_header_text(reader, &text, fault);
    if (!code) code = parse_descr(reader, value_of(text, "descr"), header, fault);
    if (!code) code = parse_shape(reader, value_of(text, "shape"), header, fault);
    /* 'fortran_order' says nothing about one dimension, but has to be there. */
    if (!code && !value_of(text, "fortran_order"))
        code = malformed(reader, "its header has no 'fortran_order'", fault);
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

/* Converts element i of a chunk and stores it at `index`; `shown` is what the file has. */
static enum conversion store(enum kind kind, const void *chunk, size_t i, struct input *input,
                             size_t index, char *shown, size_t size)
{
    enum element element = kind == F4   ? ELEMENT_F32
                           : kind == F8 ? ELEMENT_F64
                           : kind == I4 ? ELEMENT_I32
                                        : ELEMENT_I64;
    enum conversion conversion;
    switch (kind) {
    case F4:
    case F8: {
        double value = kind == F4 ? (double)((const float *)chunk)[i] : ((const double *)chunk)[i];
        conversion = element_store_real(input->element, input->data, index, value);
        break;
    }
    default: {
        int64_t value = kind == I4 ? ((const int32_t *)chunk)[i] : ((const int64_t *)chunk)[i];
        conversion = element_store_integer(input->element, input->data, index, value);
    }
    }
    if (conversion != CONVERT_EXACT) element_text(element, chunk, i, shown, size);
    return conversion;
}

static int read_elements(struct reader *reader, const struct header *header, struct input *input,
                         struct fault *fault)
{
    size_t size = header->kind == F4 || header->kind == I4 ? 4 : 8;
    int64_t chunk[CHUNK]; /* of either size, aligned for both */
    for (size_t done = 0; done < header->n;) {
        size_t wanted = header->n - done < CHUNK ? header->n - done : CHUNK;
        size_t got = fread(chunk, size, wanted, reader->file);
        if (got < wanted && ferror(reader->file))
            return fail(fault, EXIT_USAGE, "cannot read %s: %s.", reader->name, strerror(errno));
        if (got < wanted)
            return fail(fault, EXIT_USAGE,
                        "%s is truncated: its header promises %zu elements, but there are %zu.",
                        reader->name, header->n, done + got);
        if (header->swap) swap_bytes((unsigned char *)chunk, size, got);
        for (size_t i = 0; i < got; i++) {
            char shown[48];
            enum conversion conversion =
                store(header->kind, chunk, i, input, done + i, shown, sizeof shown);
            if (conversion == CONVERT_OUT_OF_RANGE ||
                (conversion == CONVERT_ROUNDED && !reader->round))
                return input_refuse(reader, conversion, done + i, shown, fault);
        }
        done += got;
    }
    if (getc(reader->file) != EOF)
        return fail(fault, EXIT_USAGE,
                    "%s goes on after the %zu elements that its header promises.", reader->name,
                    header->n);
    input->n = header->n;
    return 0;
}

int input_read_npy(struct reader *reader, struct input *input, struct fault *fault)
{
    struct header header;
    int code = parse_header(reader, &header, fault);
    if (code) return code;
    if (header.n == 0)
        return fail(fault, EXIT_USAGE, "%s has no elements; there is nothing to scan.",
                    reader->name);
    if (reader->max_n && header.n > reader->max_n) {
        input->n = header.n; /* options_check_n says it better */
        return 0;
    }
    code = input_reserve(reader, input, header.n, fault);
    return code ? code : read_elements(reader, &header, input, fault);
}
