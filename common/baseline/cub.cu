/*
 * cub.cu — the scan to be compared with: CUB's DeviceScan, of the toolkit that compiles this.
 *
 * It is built like a step (make cub) and measured by the same harness: ./cub --n 2^24.
 * CUB is NVIDIA's library of parallel primitives; its scan is one pass with decoupled look-back
 * (Merrill and Garland 2016).
 */
#include "common/step.h"

#include <cub/device/device_scan.cuh>

extern "C" scan_fn cub_scan;
extern "C" size_t cub_workspace(size_t n, int variant);

/* CUB's two-phase call: without a workspace it only tells how large that must be. */
static cudaError_t exclusive_sum(void *workspace, size_t *bytes, void *out, const void *in,
                                 size_t n, cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveSum(workspace, *bytes, (const float *)in, (float *)out, n,
                                         stream);
}

size_t cub_workspace(size_t n, int variant)
{
    size_t bytes = 0;
    (void)variant;
    return exclusive_sum(NULL, &bytes, NULL, NULL, n, NULL) == cudaSuccess ? bytes : 0;
}

cudaError_t cub_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                     cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    size_t bytes = cub_workspace(n, variant);
    return exclusive_sum(workspace, &bytes, out, in, n, stream);
}
