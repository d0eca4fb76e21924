/*
 * version.h — which Upsweep this is, and what all calls of the library have in common.
 *
 * A call computes in two steps:
 *
 *     size_t bytes = 0;
 *     upsweep_scan_sum_f32(NULL, &bytes, NULL, NULL, n, NULL, NULL);      how large a workspace?
 *     cudaMalloc(&workspace, bytes);
 *     upsweep_scan_sum_f32(workspace, &bytes, out, in, n, NULL, stream);       as often as you like
 *
 * workspace  NULL: sets *bytes to what n elements with these options need on the current device,
 *            and does nothing else. The arrays need not exist. Otherwise *bytes bytes of device
 *            memory, aligned to 256. Calls that may run at the same time (in two streams) need one
 *            each.
 * arrays     In device memory, aligned to one element. They do not overlap, unless a header says
 *            otherwise. Fastest if they are aligned to 16 bytes.
 * n          The number of elements. n = 0 succeeds, and the arrays need not exist.
 * options    NULL, which is the same as all zeros; or a struct of the header. It is read during the
 *            call only.
 * stream     Every launch goes there, and the call does not wait for it. A call may be captured
 *            into a graph. The arrays and the workspace belong to the device that is current.
 *
 * Returns cudaSuccess; cudaErrorInvalidValue if an argument is refused (an array that is NULL or
 * misaligned, a workspace that is too small, and what the headers list), and then nothing is
 * launched or written; cudaErrorNotSupported if the function does not have what the options ask
 * for; or an error of CUDA. cudaGetErrorString turns it into a text. An error that was there before
 * the call stays for the caller's cudaGetLastError.
 *
 * Clearing. Scans, selections and sorts find notes in their workspace which must be 0 before its
 * first use. A call clears them in its stream, with one cudaMemsetAsync: of some KiB, or up to 3 %
 * of the bytes of the arrays (scans, selections), or of 193 KiB (sorts; none of up to 2048 keys of
 * at least 4 bytes). If a workspace is used often, this can be left out: clear it once by
 * upsweep_clear, set `cleared` in the options, and give this workspace
 *   - to scans and selections (all of scan.h and select.h, of any types and any n for which it is
 *     large enough), one after the other, at most 2^31 - 1 times; or
 *   - to sorts (sort.h), one after the other, any number of times.
 * Never to both kinds, and to nothing else: without clearing, results are then wrong, or a call
 * does not end.
 */
#ifndef UPSWEEP_VERSION_H
#define UPSWEEP_VERSION_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The headers' version. The library's soname has UPSWEEP_MAJOR: it grows when a program that was
 * compiled before would no longer work. */
#define UPSWEEP_MAJOR   1
#define UPSWEEP_MINOR   0
#define UPSWEEP_VERSION (UPSWEEP_MAJOR * 1000 + UPSWEEP_MINOR) /* 1000: 1.0 */

#ifdef __cplusplus
extern "C" {
#endif

/* UPSWEEP_VERSION of the library that is loaded. */
int upsweep_version(void);

/* Clears `bytes` bytes of a workspace, in the stream. */
cudaError_t upsweep_clear(void *workspace, size_t bytes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
