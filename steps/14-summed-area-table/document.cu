/*
 * Step 14, variant document: summed-area tables as the document makes them.
 *
 * What it is: GPU Gems 3, section 39.3.2. An RGB picture of 8 bits becomes three arrays of floats.
 * All rows are scanned, the arrays are transposed, and all rows are scanned again. Then the three
 * tables become the channels of an RGBA picture of floats. The table stays transposed: a lookup
 * swaps the coordinates.
 * Same as step 5 except: many rows are scanned in one launch. Each row of blocks has a row of its
 * own.
 * What it fixes: one scan gives the sums of stretches; two scans give the sums of rectangles.
 * What is still bad: 115 bytes are moved for a pixel of RGB. Floats hold sums exactly only up to
 * 2^24, which 256 x 258 white pixels exceed. fast.cu fixes both.
 * How to run it: make step14 && ./step14 --variant document --channels 3
 */
#include "common/step/launch_kernel.cuh"
#include "parts/document.cuh"
#include "step14.h"

#define THREADS   256
#define MOST_ROWS 65535 // of a grid

static size_t divide_up(size_t n, size_t by) { return (n + by - 1) / by; }

/* Leaves of the tree for a row: a power of two, at least 2. */
static int leaves(size_t width)
{
    int size = 2;
    while ((size_t)size < width && size < BLOCK_ELEMENTS) size *= 2;
    return size;
}

/* Block sums of `rows` rows of this width, and of the levels above. */
static size_t sums_of(size_t width, size_t rows)
{
    size_t blocks = divide_up(width, BLOCK_ELEMENTS);
    return blocks > 1 ? rows * blocks + sums_of(blocks, rows) : 0;
}

/* At most MOST_ROWS rows. */
template <bool INCLUSIVE>
static cudaError_t launch_scan(float *data, float *sums, size_t width, size_t rows,
                               cudaStream_t stream)
{
    unsigned blocks = (unsigned)divide_up(width, BLOCK_ELEMENTS);
    int size = leaves(width);
    CUDA_TRY(launch_kernel(scan_rows<INCLUSIVE>, dim3(blocks, (unsigned)rows), size / 2,
                           PADDED_SIZE(size) * sizeof(float), stream, data, data,
                           blocks > 1 ? sums : NULL, width, size));
    if (blocks == 1) return cudaSuccess;

    // Scan the sums of each row's blocks, and add them to the blocks.
    CUDA_TRY(launch_scan<false>(sums, sums + rows * blocks, blocks, rows, stream));
    return launch_kernel(add_to_rows, dim3(blocks - 1, (unsigned)rows), BLOCK_ELEMENTS / 2, 0,
                         stream, data, sums, width);
}

static cudaError_t scan_all_rows(float *data, float *sums, size_t width, size_t rows,
                                 cudaStream_t stream)
{
    for (size_t first = 0; first < rows; first += MOST_ROWS) {
        size_t some = rows - first < MOST_ROWS ? rows - first : MOST_ROWS;
        CUDA_TRY(launch_scan<true>(data + first * width, sums, width, some, stream));
    }
    return cudaSuccess;
}

/* The pixels that can be taken apart by shuffles, which takes whole groups of them. */
static size_t shuffled(const void *pixels, const struct request *r)
{
    const size_t GROUP = 4 * LANES; // a lane takes 4 pixels
    bool fits = r->element == ELEMENT_I8 && r->size.channels == 3 &&
                (uintptr_t)pixels % sizeof(uint32_t) == 0;
    return r->variant == SHUFFLE && fits ? r->size.width * r->size.height / GROUP * GROUP : 0;
}

/* Pixels from `first` on. */
template <typename Pixel>
static cudaError_t launch_deinterleave(float *planes, const void *pixels, size_t first,
                                       struct sat_size size, cudaStream_t stream)
{
    size_t count = size.width * size.height;
    if (first == count) return cudaSuccess;
    return launch_kernel(deinterleave<Pixel>, (unsigned)divide_up(count - first, THREADS), THREADS,
                         0, stream, planes, (const Pixel *)pixels, first, count, size.channels);
}

static cudaError_t take_apart(float *planes, const void *pixels, const struct request *r,
                              cudaStream_t stream)
{
    size_t count = r->size.width * r->size.height, whole = shuffled(pixels, r);
    if (whole > 0)
        CUDA_TRY(launch_kernel(deinterleave_by_shuffles, (unsigned)divide_up(whole / 4, THREADS),
                               THREADS, 0, stream, planes, (const uint32_t *)pixels, whole, count));
    switch (r->element) {
    case ELEMENT_I8: return launch_deinterleave<uint8_t>(planes, pixels, whole, r->size, stream);
    case ELEMENT_I16: return launch_deinterleave<uint16_t>(planes, pixels, whole, r->size, stream);
    default: return launch_deinterleave<float>(planes, pixels, whole, r->size, stream);
    }
}

/* The channels as arrays of floats, rounded up so that what follows is aligned. */
static size_t plane_floats(struct sat_size size)
{
    return divide_up(size.width * size.height * size.channels, 4) * 4;
}

size_t sat_document_workspace(struct sat_size size)
{
    size_t across = sums_of(size.width, size.height * size.channels);
    size_t down = sums_of(size.height, size.width * size.channels);
    size_t planes = (size.channels == 1 ? 1 : 2) * plane_floats(size);
    return (planes + (across > down ? across : down)) * sizeof(float);
}

cudaError_t sat_document_phase(enum phase phase, float *table, const void *pixels,
                               const struct request *r, void *workspace, cudaStream_t stream)
{
    struct sat_size size = r->size;
    size_t count = size.width * size.height, c = size.channels;
    size_t tiles = divide_up(size.width, SIDE) * divide_up(size.height, SIDE);
    bool grey = c == 1, aligned = (uintptr_t)table % sizeof(float4) == 0;
    float *planes = (float *)workspace;
    float *turned = grey ? table : planes + plane_floats(size);
    float *sums = planes + (grey ? 1 : 2) * plane_floats(size);
    if (count == 0) return cudaSuccess;

    switch (phase) {
    case DEINTERLEAVE: return take_apart(planes, pixels, r, stream);
    case SCAN_ROWS: return scan_all_rows(planes, sums, size.width, size.height * c, stream);
    case TRANSPOSE:
        return launch_kernel(transpose, dim3((unsigned)tiles, 1, size.channels),
                             dim3(SIDE, TRANSPOSE_ROWS), 0, stream, turned, planes, size.width,
                             size.height);
    case SCAN_COLUMNS: return scan_all_rows(turned, sums, size.height, size.width * c, stream);
    default:
        if (grey) return cudaSuccess; // nothing to be interleaved
        return launch_kernel(aligned ? interleave<true> : interleave<false>,
                             (unsigned)divide_up(count, THREADS), THREADS, 0, stream, table, turned,
                             count, size.channels);
    }
}

cudaError_t sat_document_table(float *table, const void *pixels, const struct request *r,
                               void *workspace, cudaStream_t stream)
{
    for (int phase = DEINTERLEAVE; phase < PHASES; phase++)
        CUDA_TRY(sat_document_phase((enum phase)phase, table, pixels, r, workspace, stream));
    return cudaSuccess;
}

/* If a row has several blocks, all but the first are read and written once more. */
static double scan_words(size_t width)
{
    double blocks = (double)divide_up(width, BLOCK_ELEMENTS);
    return 2 + 2 * (1 - 1 / blocks);
}

double sat_document_words(struct sat_size size)
{
    return scan_words(size.width) + 2 + scan_words(size.height);
}

/* Up and down a block's tree, and the element itself; the sums of blocks likewise, and one more. */
static double scan_depth(size_t width)
{
    double depth = 1;
    for (int size = leaves(width); size > 1; size /= 2) depth += 2;
    size_t blocks = divide_up(width, BLOCK_ELEMENTS);
    return blocks > 1 ? depth + scan_depth(blocks) + 1 : depth;
}

double sat_document_depth(struct sat_size size)
{
    return scan_depth(size.width) + scan_depth(size.height);
}

