/*
 * table.h — summed-area tables of pictures in device memory, and box filters of any width:
 * upsweep_table_TYPE and upsweep_box_TYPE.
 *
 *     upsweep_table_u8(NULL, &bytes, NULL, NULL, width, height, channels, stream);
 *     cudaMalloc(&workspace, bytes);
 *     upsweep_table_u8(workspace, &bytes, table, pixels, width, height, channels, stream);
 *     upsweep_box_u8(filtered, table, width, height, channels, 25, stream);    mean of 25 x 25
 *
 * version.h says what all calls have in common. A workspace may have any content here.
 */
#ifndef UPSWEEP_TABLE_H
#define UPSWEEP_TABLE_H

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * pixels    Rows one after the other without gaps, and the samples of a pixel side by side.
 * table     As many sums as there are samples, in the same order: at (x, y) the sum of all pixels
 *           (i, j) with i <= x and j <= y, each channel by itself. It does not overlap the pixels.
 *           Fastest if it is aligned to 16 bytes, `pixels` to 4 samples, and a row has a
 *           multiple of 4 samples.
 * channels  1, 3 or 4.
 * Refused (cudaErrorInvalidValue): a workspace that is too small or misaligned; other channels;
 * more than 2^56 samples. A picture without pixels succeeds, and nothing is launched.
 *
 * Sums of integers are modulo 2^32. The sum of a rectangle, a - b - c + d modulo 2^32, is exact if
 * it is itself below 2^32. Sums of floats are bitwise identical in every run.
 */
#define UPSWEEP_TABLE_(name, Pixel, Sum)                                                           \
    cudaError_t upsweep_table_##name(void *workspace, size_t *bytes, Sum *table,                   \
                                     const Pixel *pixels, size_t width, size_t height,             \
                                     unsigned channels, cudaStream_t stream)

UPSWEEP_TABLE_(u8, uint8_t, uint32_t);
UPSWEEP_TABLE_(u16, uint16_t, uint32_t);
UPSWEEP_TABLE_(f32, float, float);
#undef UPSWEEP_TABLE_

/*
 * The mean of the window x window pixels around each pixel, rounded to the nearest: from window/2
 * to the right and below to (window - 1)/2 to the left and above. Windows are cut at the picture's
 * borders and divided by the number of pixels that are left. `out` has the pixels' layout.
 * Refused (cudaErrorInvalidValue): window 0; and a window whose sum reaches 2^32 if all its pixels
 * are white: with 8 bits beyond 4104, with 16 bits beyond 256, unless the picture is smaller.
 */
cudaError_t upsweep_box_u8(uint8_t *out, const uint32_t *table, size_t width, size_t height,
                           unsigned channels, size_t window, cudaStream_t stream);
cudaError_t upsweep_box_u16(uint16_t *out, const uint32_t *table, size_t width, size_t height,
                            unsigned channels, size_t window, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
