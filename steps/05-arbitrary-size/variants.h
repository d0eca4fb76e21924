/*
 * variants.h — the block scans that step 5 compares. scan.cu has the first; variants.cu has the
 * others.
 */
#ifndef STEP05_VARIANTS_H
#define STEP05_VARIANTS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

/* How a block scans its elements, and what happens to the last ones when B does not divide n. */
enum variant {
    CONFLICT_FREE,  /* step 4's tree; the last block is filled up with zeros to B (GPU Gems 3) */
    WORK_EFFICIENT, /* step 3's tree, filled up likewise */
    NAIVE,          /* step 2's sweeps, filled up likewise */
    REMAINDER,      /* step 4's tree; full blocks do not check bounds, and one more launch scans the
                       rest, filled up to the next power of two only (Harris) */
};

/* Step 3's tree has no padding. */
#define VARIANT_OFFSET(i, padding) ((padding) ? (i) >> 5 : 0)

/* Floats of shared memory for n elements. */
#define VARIANT_SIZE(n, padding) ((n) + VARIANT_OFFSET((n)-1, padding))

/* Leaves of the tree that scans `rest` elements: the next power of two, at least 2. */
static inline int remainder_size(size_t rest)
{
    int size = 2;
    while ((size_t)size < rest) size *= 2;
    return size;
}

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Launches the kernels that scan the blocks of one level, in every way but CONFLICT_FREE: n
 * elements of g_idata into g_odata, and the sum of block j into g_sums[j] unless g_sums is NULL.
 * Returns the error of the launches; cudaErrorInvalidValue for another variant.
 */
cudaError_t step05_scan_blocks(float *g_odata, const float *g_idata, float *g_sums, size_t n,
                               int variant, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
