/* table_file.c — writes a summed-area table as a .npy file. */
#include "table_file.h"

#include "common/harness/print/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 192 /* bytes, a multiple of 64 as NumPy wants it */

static int write_header(struct output *output, const char *type, struct sat_size size,
                        struct fault *fault)
{
    char header[HEADER + 1], shape[80];
    snprintf(shape, sizeof shape, size.channels == 1 ? "(%zu, %zu)" : "(%zu, %zu, %u)", size.height,
             size.width, size.channels);
    memcpy(header, "\x93NUMPY\x01\x00\xb6\x00", 10); /* version 1.0; 182 bytes follow */
    snprintf(header + 10, sizeof header - 10,
             "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    size_t used = 10 + strlen(header + 10);
    memset(header + used, ' ', HEADER - 1 - used);
    header[HEADER - 1] = '\n';
    return output_add(output, header, HEADER, fault);
}

/* ---- what was lost modulo 2^32 --------------------------------------------------------------- */

static uint64_t white(enum element element)
{
    return element == ELEMENT_I8 ? UINT8_MAX : UINT16_MAX;
}

/* The greatest sum of a channel of the picture. */
static uint64_t largest_sum(const void *pixels, enum element element, struct sat_size size)
{
    uint64_t sums[4] = {0}, largest = 0;
    size_t count = size.width * size.height * size.channels;
    for (size_t i = 0; i < count; i++)
        sums[i % size.channels] +=
            element == ELEMENT_I8 ? ((const uint8_t *)pixels)[i] : ((const uint16_t *)pixels)[i];
    for (unsigned c = 0; c < size.channels; c++)
        if (sums[c] > largest) largest = sums[c];
    return largest;
}

/* The row after `whole`, by the sums of single rows: the difference of two rows of the table. */
static void next_row_by_rows(uint64_t *whole, const uint32_t *row, const uint32_t *above, size_t n)
{
    for (size_t i = 0; i < n; i++) whole[i] += row[i] - (above ? above[i] : 0);
}

/* A row by the sums of single columns: the difference of two neighbouring pixels. */
static void row_by_columns(uint64_t *whole, const uint32_t *row, size_t n, unsigned channels)
{
    for (size_t i = 0; i < n; i++)
        whole[i] =
            i < channels ? row[i] : whole[i - channels] + (uint32_t)(row[i] - row[i - channels]);
}

static int write_whole(struct output *output, const uint32_t *table, enum element element,
                       struct sat_size size, uint64_t *whole, struct fault *fault)
{
    size_t n = size.width * size.channels;
    bool by_rows = size.width <= UINT32_MAX / white(element);
    int code = 0;
    memset(whole, 0, n * sizeof *whole);
    for (size_t y = 0; y < size.height && !code; y++) {
        const uint32_t *row = table + y * n;
        if (by_rows)
            next_row_by_rows(whole, row, y > 0 ? row - n : NULL, n);
        else
            row_by_columns(whole, row, n, size.channels);
        code = output_add(output, whole, n * sizeof *whole, fault);
    }
    return code;
}

/* ---- the document's table -------------------------------------------------------------------- */

static int write_turned(struct output *output, const float *table, struct sat_size size, float *row,
                        struct fault *fault)
{
    int code = 0;
    for (size_t y = 0; y < size.height && !code; y++) {
        float *to = row;
        for (size_t x = 0; x < size.width; x++)
            for (unsigned c = 0; c < size.channels; c++)
                *to++ = table[judge_place(DOCUMENT, size, x, y, c)];
        code = output_add(output, row, (size_t)(to - row) * sizeof *row, fault);
    }
    return code;
}

/* ---- the file -------------------------------------------------------------------------------- */

int table_file_write(const char *path, enum variant variant, const void *table, const void *pixels,
                     enum element element, struct sat_size size, struct fault *fault)
{
    size_t n = size.width * size.channels;
    bool whole = variant == FAST && element != ELEMENT_F32, overflows = false;
    if (whole) overflows = largest_sum(pixels, element, size) > UINT32_MAX;
    if (overflows && size.width > UINT32_MAX / white(element) &&
        size.height > UINT32_MAX / white(element))
        return fail(fault, EXIT_USAGE,
                    "--sum: a picture of more than 65537 pixels of 16 bits in both directions has "
                    "sums that cannot be found again modulo 2^32.");
    void *row = allocated(malloc(n * sizeof(uint64_t)));
    struct output output;
    int code = output_begin_bytes(&output, path, fault);
    if (!code)
        code = write_header(&output, !whole ? "<f4" : overflows ? "<u8" : "<u4", size, fault);
    if (!code && overflows)
        code = write_whole(&output, table, element, size, row, fault);
    else if (!code && variant == FAST)
        code = output_add(&output, table, n * size.height * sizeof(uint32_t), fault);
    else if (!code)
        code = write_turned(&output, table, size, row, fault);
    free(row);
    return code ? code : output_end(&output, fault);
}
