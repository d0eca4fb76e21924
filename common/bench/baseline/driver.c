/* The descriptor of CUB's scan, for the harness: see cub.cu. Its variants are types of elements. */
#include "common/step/step.h"
#include "cub.h"

enum { F32, F64, I32, I64, I16, I8 };
static const char *const variants[] = {"f32", "f64", "i32", "i64", "i16", "i8", NULL};
static const enum element elements[] = {ELEMENT_F32, ELEMENT_F64, ELEMENT_I32,
                                        ELEMENT_I64, ELEMENT_I16, ELEMENT_I8};
static cub_fn *const sums[] = {cub_f32, cub_f64, cub_i32, cub_i64, cub_i16, cub_i8};

static size_t cub_workspace(size_t n, int variant)
{
    size_t bytes = 0;
    return sums[variant](NULL, &bytes, NULL, NULL, n, NULL) == cudaSuccess ? bytes : 0;
}

static cudaError_t cub_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                            cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    size_t bytes = cub_workspace(n, variant);
    return sums[variant](workspace, &bytes, out, in, n, stream);
}

/* Its order of additions differs from run to run: the depth is that of one after the other. */
const struct step cub = {
    .program = "cub",
    .name = "cub",
    .title = "CUB's DeviceScan",
    .teaches = "the library to be compared with: one pass, decoupled look-back",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .elements = elements,
    .variants = variants,
    .scan = cub_scan,
    .workspace = cub_workspace,
};
