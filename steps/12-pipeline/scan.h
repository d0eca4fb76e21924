/*
 * scan.h — step 12 as a library: scans of device memory, for programs in C and C++.
 *
 *     size_t bytes = 0;
 *     scan_exclusive_f32(NULL, &bytes, NULL, NULL, n, stream);        how large a workspace?
 *     cudaMalloc(&workspace, bytes);
 *     scan_workspace_init(workspace, bytes, stream);                  once
 *     scan_exclusive_f32(workspace, &bytes, out, in, n, stream);      as often as you like
 *
 * exclusive: out[i] = in[0] + … + in[i-1], out[0] = 0; inclusive: out[i] = in[0] + … + in[i].
 *
 * workspace  NULL: sets *bytes to what a scan of n elements needs, and does nothing else. Otherwise
 *            *bytes bytes of device memory, aligned to 16, which scan_workspace_init has cleared
 *            once. It may be used for any number of scans, of any type and of any n for which it is
 *            large enough, one after the other; and for the calls of step 13's compact.h and step
 *            16's scan.h in any order, but for nothing else (a sort, a table of sums). Scans that
 *            may run at the same time (in two streams) need one each. It serves 2^31 - 1 scans;
 *            then it must be cleared again.
 * out, in    n elements each in device memory, aligned to one element. They may be the same if the
 *            types have the same size; otherwise they do not overlap.
 * n          0 succeeds and does nothing; more than 2^32 are fine.
 * stream     every launch goes there; the call does not wait. It may be captured into a graph.
 * Returns cudaSuccess; cudaErrorInvalidValue if the workspace is too small or not aligned, or if n
 * is of 2^31 tiles or more (2^43 elements at least); or an error of CUDA. An error that was there
 * before stays for the caller's cudaGetLastError.
 *
 * Sums of integers are exact modulo 2^32 or 2^64. Sums of floats are deterministic: the same in
 * every run, whatever else the GPU does at the time. n alone decides in which order they are added.
 */
#ifndef STEP12_SCAN_H
#define STEP12_SCAN_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Clears a workspace. Needed once, before its first scan. */
cudaError_t scan_workspace_init(void *workspace, size_t bytes, cudaStream_t stream);

/* clang-format off */
#define DECLARE_SCANS(name, In, Sum)                                                               \
    cudaError_t scan_exclusive_##name(void *workspace, size_t *bytes, Sum *out, const In *in,      \
                                      size_t n, cudaStream_t stream);                              \
    cudaError_t scan_inclusive_##name(void *workspace, size_t *bytes, Sum *out, const In *in,      \
                                      size_t n, cudaStream_t stream)
/* clang-format on */

DECLARE_SCANS(f32, float, float);
DECLARE_SCANS(f64, double, double);
DECLARE_SCANS(i32, int32_t, int32_t);
DECLARE_SCANS(u64, uint64_t, uint64_t);
DECLARE_SCANS(i16, int16_t, int32_t); /* 16 and 8 bits are summed in 32 */
DECLARE_SCANS(i8, int8_t, int32_t);

#undef DECLARE_SCANS

#ifdef __cplusplus
}
#endif

#endif
