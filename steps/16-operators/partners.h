/*
 * partners.h — the partners of brackets as a library, for programs in C and C++: where is the
 * bracket that closes this one, or that this one closes?
 *
 *     size_t bytes = 0;
 *     scan_bracket_partners(NULL, &bytes, NULL, NULL, n, stream);              sets `bytes`
 *     cudaMalloc(&workspace, bytes);
 *     scan_bracket_partners(workspace, &bytes, partner, text, n, stream);      any number of times
 *
 *   index     0   1   2   3   4   5   6   7   8
 *   text      (   a   [   ]   )   {   )   (   )
 *   partner   4  -1   3   2   0   6   5   8   7
 *
 * partner[i] is the index of the bracket that belongs to text[i]; -1 for a character that is no
 * bracket, and for an opening bracket that no bracket closes.
 *
 * All kinds of brackets ( ) [ ] { } count as one, as in scan_brackets (scan.h). So `{` and `)` may
 * be partners, as the ones at 5 and 6 are. A program that does not allow that compares text[i] with
 * text[partner[i]].
 *
 * A closing bracket without an opening one is an error of the text. The partners before it are
 * right: at this place every opening bracket has been closed. From it on, every partner is -1.
 */
#ifndef STEP16_PARTNERS_H
#define STEP16_PARTNERS_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#define PARTNER_THREADS 256 /* of a block of its own kernels */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * workspace  NULL: sets *bytes to what a text of n characters needs, and does nothing else.
 *            Otherwise *bytes bytes of device memory, aligned to 256. It needs no clearing, and may
 *            be used for any number of texts, one after the other, of any n for which it is large
 *            enough. Calls that may run at the same time (in two streams) need one each.
 * partner    n results in device memory, aligned to one element.
 * text       n characters in device memory. They do not overlap the results.
 * n          0 succeeds and does nothing. At most 2^31 - 1.
 * stream     every launch goes there; the call does not wait. It may be captured into a graph.
 * Returns cudaSuccess; cudaErrorInvalidValue if the workspace is too small or not aligned, or if n
 * is too large; or an error of CUDA. An error that was there before stays for the caller's
 * cudaGetLastError.
 */
cudaError_t scan_bracket_partners(void *workspace, size_t *bytes, int32_t *partner,
                                  const uint8_t *text, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
