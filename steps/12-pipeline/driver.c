/* Step 12's descriptor: its variants are the types that scan.h can add. */
#include "common/step/step.h"
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

/* Carries of float sums are double, so their additions round 2^29 times less than those of floats.
 * (scan_direct adds in the order of scan_pipeline.) */
static double step12_depth(size_t n, int variant)
{
    size_t bytes = variant == F64 || variant == I64 ? 8 : 4;
    struct reference_depth depth = reference_depth(n, bytes, kernel_for(n, bytes, 90, true));
    return depth.sums + depth.carries * (bytes == 8 ? 1 : 0x1p-29);
}

const struct step step12 = {
    .number = 12,
    .name = "pipeline",
    .title = "A pipeline, close to a copy",
    .teaches = "copies and sums run ahead of the scan, which hides their latency",
    .still_bad = "it is long, tuned for an H200, and needs Hopper and aligned arrays",
    .default_n = 1 << 24,
    .element = ELEMENT_F32,
    .elements = elements,
    .clear_workspace = true,
    .variants = variants,
    .scan = step12_scan,
    .workspace = step12_workspace,
    .depth = step12_depth,
    .any_order = true,
};
