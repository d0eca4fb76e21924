/* reference.c — what step 14 has to give, computed on the CPU in 64 bits. */
#include "reference.h"

#include <math.h>

static uint64_t sample(const void *pixels, enum element element, size_t i)
{
    return element == ELEMENT_I8 ? ((const uint8_t *)pixels)[i] : ((const uint16_t *)pixels)[i];
}

void sat_reference_table(uint64_t *table, const void *pixels, enum element element,
                         struct sat_size size)
{
    size_t row = size.width * size.channels;
    for (size_t y = 0; y < size.height; y++) {
        uint64_t left[4] = {0}; /* this row's sum so far, of each channel */
        for (size_t k = 0; k < row; k++) {
            left[k % size.channels] += sample(pixels, element, y * row + k);
            table[y * row + k] = left[k % size.channels] + (y > 0 ? table[(y - 1) * row + k] : 0);
        }
    }
}

void sat_reference_floats(double *table, double *magnitudes, const float *pixels,
                          struct sat_size size)
{
    size_t row = size.width * size.channels;
    for (size_t y = 0; y < size.height; y++) {
        double left[4] = {0}, left_magnitude[4] = {0};
        for (size_t k = 0; k < row; k++) {
            size_t i = y * row + k, c = k % size.channels;
            left[c] += (double)pixels[i];
            left_magnitude[c] += fabs((double)pixels[i]);
            table[i] = left[c] + (y > 0 ? table[i - row] : 0);
            magnitudes[i] = left_magnitude[c] + (y > 0 ? magnitudes[i - row] : 0);
        }
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Pixels before and behind the one in the middle. */
struct reach {
    size_t before, behind;
};

/* In the document's words, the depth gives a blur factor that modulates the filter's width. */
static struct reach reach_at(struct window w, enum element element, size_t pixel)
{
    if (!w.depths) return (struct reach){(w.width - 1) / 2, w.width / 2};
    uint64_t focus = w.focus.focus, depth = sample(w.depths, element, pixel);
    uint64_t far = w.focus.farthest > focus ? w.focus.farthest - focus : 0;
    uint64_t away = depth > focus ? depth - focus : focus - depth, most = focus > far ? focus : far;
    if (away > most) away = most;
    size_t r = most ? (away * ((w.focus.width - 1) / 2) + most / 2) / most : 0;
    return (struct reach){r, r};
}

/* First and last of the positions of a window in a row or column of `count`. */
struct span {
    size_t first, last;
};

static struct span span_around(size_t at, struct reach r, size_t count)
{
    return (struct span){at > r.before ? at - r.before : 0,
                         count - 1 - at > r.behind ? at + r.behind : count - 1};
}

struct corners {
    uint64_t ur, ul, lr, ll, pixels; /* as in the document: upper right, … */
};

static struct corners corners_at(const uint64_t *table, enum element element, struct sat_size size,
                                 struct window w, size_t x, size_t y, unsigned channel)
{
    struct reach r = reach_at(w, element, y * size.width + x);
    struct span h = span_around(x, r, size.width), v = span_around(y, r, size.height);
#define ENTRY(x, y) table[((y)*size.width + (x)) * size.channels + channel]
    return (struct corners){
        .ur = ENTRY(h.last, v.last),
        .ul = h.first > 0 ? ENTRY(h.first - 1, v.last) : 0,
        .lr = v.first > 0 ? ENTRY(h.last, v.first - 1) : 0,
        .ll = h.first > 0 && v.first > 0 ? ENTRY(h.first - 1, v.first - 1) : 0,
        .pixels = (h.last - h.first + 1) * (v.last - v.first + 1),
    };
#undef ENTRY
}

struct mean sat_reference_mean(const uint64_t *table, enum element element, struct sat_size size,
                               struct window w, size_t x, size_t y, unsigned channel)
{
    struct corners c = corners_at(table, element, size, w, x, y, channel);
    return (struct mean){c.ur - c.ul - c.lr + c.ll, c.pixels};
}

double sat_reference_corners(const uint64_t *table, enum element element, struct sat_size size,
                             struct window w, size_t x, size_t y, unsigned channel)
{
    struct corners c = corners_at(table, element, size, w, x, y, channel);
    return (double)c.ur + (double)c.ul + (double)c.lr + (double)c.ll;
}
