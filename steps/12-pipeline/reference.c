/* reference.c — step 12's scans of floats on the CPU. The tree of additions is in
 * reference_tree.h. */
#include "reference.h"

#include <string.h>

/* How one of the kernels divides n elements into the segments and rows of a tile, and how many
 * threads share the work of adding up the tiles before one. */
static struct division division_of(size_t n, size_t sum_bytes, enum kernel kernel)
{
    struct division tile = {TILE_SEGMENTS, TILE_ROWS};
    return kernel == KERNEL_WAVE     ? wave_division(n, sum_bytes)
           : kernel == KERNEL_ONCHIP ? onchip_division(n, sum_bytes)
                                     : tile;
}

static int lookers_of(struct division d, enum kernel kernel)
{
    return kernel == KERNEL_WAVE     ? d.segments * LANES
           : kernel == KERNEL_ONCHIP ? ONCHIP_MAX_TILES
                                     : LANES;
}

#define MOST_LOOKERS (TILE_SEGMENTS * LANES)
#define MOST_ROWS    ONCHIP_MAX_ROWS

typedef double Carry;

#define Sum      float
#define OF(name) name##_f32
#define V        LANE_TAKES(4)
#include "reference_tree.h"
#undef Sum
#undef OF
#undef V

#define Sum      double
#define OF(name) name##_f64
#define V        LANE_TAKES(8)
#include "reference_tree.h"

/* ---- the bound of the error ------------------------------------------------------------------ */

/* The number of levels of a balanced tree over `count` items. */
static int levels(size_t count)
{
    int levels = 0;
    while ((size_t)1 << levels < count) levels++;
    return levels;
}

/*
 * An input reaches an output in one of two ways. The first is from an earlier segment or tile:
 * through the sums of its vector, of its lane's rows, of the lanes (in scan_onchip of the lanes,
 * and then of the rows) and of the segments into a carry; the carry is added to the sum before the
 * segment, and the result to the element. The second is within its own segment: through its vector,
 * the lanes and the rows into the sum before the row, which is added to the element and to the sum
 * before the segment. 0 + x is exact and counts as no addition.
 */
struct reference_depth reference_depth(size_t n, size_t sum_bytes, enum kernel kernel)
{
    struct division d = division_of(n, sum_bytes, kernel);
    size_t tiles = tiles_in(n, d, sum_bytes);
    size_t lookers = (size_t)lookers_of(d, kernel), in_one = (tiles + lookers - 1) / lookers;
    int vector = LANE_TAKES((int)sum_bytes) - 1, rows = d.rows - 1;
    int sums = vector + rows + levels(LANES) + levels((size_t)d.segments) + 2;
    int within = vector + levels(LANES) + rows + 3;
    return (struct reference_depth){.sums = sums > within ? sums : within,
                                    .carries = (double)(in_one > 0 ? in_one - 1 : 0) +
                                               levels(lookers) + 1};
}

double reference_bound(size_t n, size_t sum_bytes, enum kernel kernel)
{
    struct reference_depth depth = reference_depth(n, sum_bytes, kernel);
    double of_sums = depth.sums * (sum_bytes == 4 ? 0x1p-24 : 0x1p-53);
    double of_carries = depth.carries * 0x1p-53;
    return (of_sums + of_carries) / (1 - of_sums - of_carries);
}
