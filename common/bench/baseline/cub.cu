/*
 * cub.cu — the baseline for comparisons: CUB's DeviceScan, from the toolkit or from CCCL=DIR.
 *
 * It is built like a step (make cub) and measured by the same harness: ./cub --n 2^24.
 * CUB is NVIDIA's library of parallel primitives; its scan is one pass with decoupled look-back
 * (Merrill and Garland 2016). Compiled once for each type of elements: CUB_NAME is the function's
 * name, CUB_IN the type of the elements and CUB_OUT that of their sums.
 */
#include "cub.h"

#include <cub/device/device_scan.cuh>

const int cub_version = CUB_VERSION;

/* CUB's call in two phases: without a workspace it only sets the size that the workspace must
 * have. */
extern "C" cudaError_t CUB_NAME(void *workspace, size_t *bytes, void *out, const void *in, size_t n,
                                cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveSum(workspace, *bytes, (const CUB_IN *)in, (CUB_OUT *)out, n,
                                         stream);
}
