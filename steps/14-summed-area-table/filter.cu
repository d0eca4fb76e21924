/*
 * Step 14: filters by a summed-area table, each pixel in constant time.
 *
 * What it is: the box filter of any width, and the document's approximate depth of field, in which
 * a depth map says how wide the filter is at each pixel. The sum of a rectangle is four entries of
 * the table: s_ur - s_ul - s_lr + s_ll, as in GPU Gems 3, section 39.3.2.
 * Same as in the document except: windows are cut at the borders of the picture and divided by the
 * number of pixels that are left.
 * How to run it: make step14 && ./step14 --input picture.png --box 25 --output blurred.png
 */
#include "common/step/launch_kernel.cuh"
#include "sat.h"
#include "step14.h"

#define THREADS 256

/* The fast variant's table: sums modulo 2^32. The difference of four is exact if it is below
 * that. */
struct whole_table {
    typedef uint32_t sum;
    const uint32_t *at;
    struct sat_size size;

    __device__ uint32_t get(size_t x, size_t y, unsigned c) const
    {
        return at[(y * size.width + x) * size.channels + c];
    }
    /* sum / pixels to the nearest, a half upwards. */
    static __device__ unsigned mean(uint32_t sum, uint32_t pixels, unsigned)
    {
        return (unsigned)(((uint64_t)sum + pixels / 2) / pixels);
    }
};

/* The document's: floats, and the coordinates are swapped. An entry is of sat_document_channels()
 * floats. */
struct float_table {
    typedef float sum;
    const float *at;
    struct sat_size size;

    __device__ float get(size_t x, size_t y, unsigned c) const
    {
        return at[(x * size.height + y) * (size.channels == 1 ? 1 : 4) + c];
    }
    static __device__ unsigned mean(float sum, uint32_t pixels, unsigned maximum)
    {
        float mean = sum / (float)pixels + 0.5f;
        if (!(mean > 0)) return 0; // rounding may have made it negative
        return mean < (float)maximum ? (unsigned)mean : maximum;
    }
};

/* Which pixels are taken around one. */
struct reach {
    size_t before, behind;
};

struct same_width {
    size_t width;
    __device__ reach at(size_t) const { return {(width - 1) / 2, width / 2}; }
};

template <typename Pixel> struct width_by_depth {
    const Pixel *depth;
    struct sat_focus f;

    __device__ reach at(size_t pixel) const
    {
        unsigned d = depth[pixel], far = f.farthest > f.focus ? f.farthest - f.focus : 0;
        unsigned away = d > f.focus ? d - f.focus : f.focus - d;
        uint64_t most = f.focus > far ? f.focus : far; // the greatest distance there is
        if (away > most) away = (unsigned)most;
        size_t r = most ? (away * (uint64_t)((f.width - 1) / 2) + most / 2) / most : 0;
        return {r, r};
    }
};

/* A thread a pixel. */
template <typename Table, typename Pixel, typename Width>
static __global__ void filter(Pixel *out, const Table table, const Width width, unsigned maximum)
{
    const struct sat_size size = table.size;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size.width * size.height) return;
    size_t x = i % size.width, y = i / size.width;
    reach r = width.at(i);

    // Rows and columns before the window; the window's last ones.
    size_t left = x > r.before ? x - r.before : 0, low = y > r.before ? y - r.before : 0;
    size_t right = size.width - 1 - x > r.behind ? x + r.behind : size.width - 1;
    size_t high = size.height - 1 - y > r.behind ? y + r.behind : size.height - 1;
    uint32_t pixels = (uint32_t)((right - left + 1) * (high - low + 1));

    for (unsigned c = 0; c < size.channels; c++) {
        typename Table::sum s = table.get(right, high, c);
        if (left > 0) s -= table.get(left - 1, high, c);
        if (low > 0) s -= table.get(right, low - 1, c);
        if (left > 0 && low > 0) s += table.get(left - 1, low - 1, c);
        out[i * size.channels + c] = (Pixel)Table::mean(s, pixels, maximum);
    }
}

template <typename Table, typename Pixel>
static cudaError_t launch(Pixel *out, const Table &table, const Pixel *depths, struct sat_focus f,
                          unsigned maximum, cudaStream_t stream)
{
    size_t blocks = (table.size.width * table.size.height + THREADS - 1) / THREADS;
    if (blocks == 0) return cudaSuccess;
    if (blocks > INT32_MAX) return cudaErrorInvalidValue; // beyond any grid
    if (!depths)
        return launch_kernel(filter<Table, Pixel, same_width>, (unsigned)blocks, THREADS, 0, stream,
                             out, table, same_width{f.width}, maximum);
    return launch_kernel(filter<Table, Pixel, width_by_depth<Pixel>>, (unsigned)blocks, THREADS, 0,
                         stream, out, table, width_by_depth<Pixel>{depths, f}, maximum);
}

/* By the fast variant's table; depths NULL: a box filter. */
template <typename Pixel>
static cudaError_t filter_whole(Pixel *out, const uint32_t *table, const Pixel *depths,
                                struct sat_size size, struct sat_focus f, cudaStream_t stream)
{
    unsigned maximum = (Pixel)~0u;
    if (!sat_size_is_valid(size) || f.width == 0 || (depths && f.width % 2 == 0) ||
        sat_window_overflows(size, f.width, maximum))
        return cudaErrorInvalidValue;
    return launch(out, whole_table{table, size}, depths, f, maximum, stream);
}

#define FILTERS(name, Pixel)                                                                       \
    cudaError_t sat_box_##name(Pixel *out, const uint32_t *table, struct sat_size size,            \
                               size_t width, cudaStream_t stream)                                  \
    {                                                                                              \
        return filter_whole(out, table, (const Pixel *)NULL, size, {0, 0, width}, stream);         \
    }                                                                                              \
    cudaError_t sat_blur_##name(Pixel *out, const uint32_t *table, const Pixel *depth,             \
                                struct sat_size size, struct sat_focus focus, cudaStream_t stream) \
    {                                                                                              \
        return filter_whole(out, table, depth, size, focus, stream);                               \
    }
FILTERS(u8, uint8_t)
FILTERS(u16, uint16_t)

cudaError_t sat_document_filter(void *out, const float *table, const void *depths,
                                const struct request *r, cudaStream_t stream)
{
    float_table t = {table, r->size};
    if (r->element == ELEMENT_I8)
        return launch((uint8_t *)out, t, (const uint8_t *)depths, r->window, r->maximum, stream);
    return launch((uint16_t *)out, t, (const uint16_t *)depths, r->window, r->maximum, stream);
}
