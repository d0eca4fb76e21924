/* Step 12's descriptor: its variants are the types that scan.h can add. */
#include "common/step/step.h"
#include "common/step/tree.h"
#include "reference.h"
#include "steps/12-pipeline/scan.h"

enum { F32, F64, I32, I64, I16, I8 };
static const char *const variants[] = {"f32", "f64", "i32", "i64", "i16", "i8", NULL};
static const enum element elements[] = {ELEMENT_F32, ELEMENT_F64, ELEMENT_I32,
                                        ELEMENT_I64, ELEMENT_I16, ELEMENT_I8};

/* scan.h's two-phase call for a variant. Sums of int64 are those of uint64, modulo 2^64. */
static cudaError_t call(int variant, void *workspace, size_t *bytes, void *out, const void *in,
                        size_t n, cudaStream_t stream)
{
    switch (variant) {
    case F64: return scan_exclusive_f64(workspace, bytes, out, in, n, stream);
    case I32: return scan_exclusive_i32(workspace, bytes, out, in, n, stream);
    case I64: return scan_exclusive_u64(workspace, bytes, out, in, n, stream);
    case I16: return scan_exclusive_i16(workspace, bytes, out, in, n, stream);
    case I8: return scan_exclusive_i8(workspace, bytes, out, in, n, stream);
    default: return scan_exclusive_f32(workspace, bytes, out, in, n, stream);
    }
}

static size_t step12_workspace(size_t n, int variant)
{
    size_t bytes = 0;
    call(variant, NULL, &bytes, NULL, NULL, n, NULL);
    return bytes;
}

static cudaError_t step12_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                               cudaStream_t stream)
{
    size_t bytes = step12_workspace(n, variant);
    return call(variant, workspace, &bytes, out, in, n, stream);
}

static size_t sum_bytes(int variant) { return variant == F64 || variant == I64 ? 8 : 4; }

/* The kernel on Hopper, for aligned arrays. */
static enum kernel kernel_of(size_t n, int variant)
{
    return kernel_for(n, sum_bytes(variant), 90, true);
}

static struct division division_of(size_t n, int variant)
{
    switch (kernel_of(n, variant)) {
    case KERNEL_WAVE: return wave_division(n, sum_bytes(variant));
    case KERNEL_ONCHIP: return onchip_division(n, sum_bytes(variant));
    default: return (struct division){TILE_SEGMENTS, TILE_ROWS};
    }
}

/* The number of threads that share the work of adding up the tiles before one. */
static unsigned lookers_of(enum kernel kernel, struct division d)
{
    return kernel == KERNEL_WAVE     ? (unsigned)d.segments * LANES
           : kernel == KERNEL_ONCHIP ? ONCHIP_MAX_TILES
                                     : LANES;
}

/* Carries of float sums are double. So their additions round 2^29 times less than those of
 * floats. */
static double step12_depth(size_t n, int variant)
{
    size_t bytes = sum_bytes(variant);
    struct reference_depth depth = reference_depth(n, bytes, kernel_of(n, variant));
    return depth.sums + depth.carries * (bytes == 8 ? 1 : 0x1p-29);
}

/*
 * The order in which reference_tree.h adds. The scan of a segment: a vector, the warp's sweeps,
 * the rows. The sum of a segment: the vectors of a lane, then the lanes; in scan_onchip the last
 * sum of its scan. The segments of a tile: by the sweeps of a warp. The tiles: in turns by the
 * threads that find the prefixes, in double.
 * The sums of all before the tile, the segment, the row and the vector are added one to the other,
 * and a carry becomes a sum.
 */
static void step12_tree(struct tree *tree, size_t n, int variant)
{
    size_t bytes = sum_bytes(variant), row = ROW(bytes);
    enum kernel kernel = kernel_of(n, variant);
    struct division d = division_of(n, variant);
    size_t segment = (size_t)d.rows * row, tile = (size_t)d.segments * segment;
    unsigned vector = (unsigned)LANE_TAKES(bytes);
    tree_run(tree, vector, vector - 1);
    tree_sweeps(tree, vector, row);
    tree_run(tree, segment, (size_t)d.rows - 1);
    if (kernel != KERNEL_ONCHIP)
        tree_add(tree,
                 (struct tree_level){
                     .sums = SUMS_STRIDED, .length = segment, .vector = vector, .ways = LANES});
    tree_sweeps(tree, segment, tile);
    tree_add(tree, (struct tree_level){.sums = SUMS_CARRY,
                                       .length = tile,
                                       .ways = lookers_of(kernel, d),
                                       .in_double = true});
    tree->joins += 5;
}

/* Every element is read once and written once. */
static double step12_words(size_t n, int variant)
{
    (void)variant;
    return 2.0 * (double)n;
}

const struct step step12 = {
    .number = 12,
    .name = "pipeline",
    .title = "A pipeline, close to a copy",
    .teaches = "copies and sums run ahead of the scan, which hides their latency",
    .default_n = 1 << 24,
    .element = ELEMENT_F32,
    .elements = elements,
    .clear_workspace = true,
    .variants = variants,
    .scan = step12_scan,
    .workspace = step12_workspace,
    .depth = step12_depth,
    .tree = step12_tree,
    .words = step12_words,
};
