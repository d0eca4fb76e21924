/* Step 12's descriptor: its variants are the types that scan.h can add. */
#include "common/step.h"
#include "reference.h"
#include "scan.h"

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

/* That of scan_small or, by tiles, of the others: how many of its blocks fit is the GPU's affair. */
static struct launch_shape step12_shape(size_t n, int variant)
{
    if (n <= SMALL_MAX(sum_bytes(variant)))
        return (struct launch_shape){.grid = SMALL_BLOCKS,
                                     .block = small_segments(n, sum_bytes(variant)) * LANES,
                                     .launches = 1};
    return (struct launch_shape){
        .grid = tiles_of(n, sum_bytes(variant)), .block = TILE_SEGMENTS * LANES, .launches = 1};
}

/* Of scan_direct and scan_pipeline: each vector's scan, the rows' warp scans, each row's total and
 * what lies before each element and row; beside them once for the sums alone. */
static double step12_adds(size_t n, int variant)
{
    double vector = LANE_TAKES(sum_bytes(variant)), log_lanes = 5;
    double row = LANES * (2 * vector /* sums and scan */ + log_lanes + 2 * vector + 1);
    return (double)tiles_of(n, sum_bytes(variant)) * TILE_SEGMENTS * TILE_ROWS * row;
}

/* That of whichever kernel takes n. An addition of carries to sums in float rounds 2^29 times less
 * than one of floats. */
static double step12_depth(size_t n, int variant)
{
    size_t bytes = sum_bytes(variant);
    struct reference_depth depth = reference_depth(n, bytes, KERNEL_DIRECT);
    double carries = bytes == 8 ? depth.carries : depth.carries * 0x1p-29;
    if (n > SMALL_MAX(bytes)) return depth.sums + carries;
    struct reference_depth small = reference_depth(n, bytes, KERNEL_SMALL);
    return (small.sums > depth.sums ? small.sums : depth.sums) + small.carries + carries;
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
    .title = "A pipeline, as fast as a copy",
    .teaches = "copies and sums run ahead of the scan, so that nobody waits for anybody",
    .default_n = 1 << 22,
    .element = ELEMENT_F32,
    .elements = elements,
    .clear_workspace = true,
    .variants = variants,
    .scan = step12_scan,
    .shape = step12_shape,
    .workspace = step12_workspace,
    .adds = step12_adds,
    .depth = step12_depth,
    .words = step12_words,
};
