/*
 * sat.h — step 14 as a library: summed-area tables of pictures in device memory, and box filters of
 * any width, for programs in C and C++.
 *
 *     struct sat_size size = {width, height, channels};
 *     sat_u8(NULL, &bytes, NULL, NULL, size, stream);               how large a workspace?
 *     cudaMalloc(&workspace, bytes);
 *     sat_u8(workspace, &bytes, table, pixels, size, stream);       as often as you like
 *     sat_box_u8(filtered, table, size, 25, stream);                the mean of 25 x 25 pixels
 *
 * pixels     rows one after the other without gaps, and the samples of a pixel side by side, in
 *            device memory, aligned to one sample.
 * table      as many sums as there are samples, in the same order: at (x, y) the sum of all pixels
 *            (i, j) with i <= x and j <= y, each channel by itself. It does not overlap the pixels.
 *            Fastest if it is aligned to 16 bytes, `pixels` to 4 samples, and a row has a multiple
 *            of 4 samples; otherwise samples are loaded and stored one by one.
 * workspace  NULL: sets *bytes to what the picture needs, and does nothing else. Otherwise *bytes
 *            bytes of device memory, aligned to 16, of any content. Calls that may run at the same
 *            time need one each. A scan (step 12) may use it only after it has been cleared again.
 * stream     every launch goes there; the call does not wait. It may be captured into a graph.
 * Returns cudaSuccess; cudaErrorInvalidValue if the workspace is too small or not aligned, if there
 * are not 1, 3 or 4 channels, if there are more samples than any memory holds (2^56), or if a
 * window is refused (below); or an error of CUDA. An error that was there before stays for the
 * caller's cudaGetLastError. A picture without pixels succeeds and nothing is launched.
 *
 * Sums of integers are modulo 2^32. The sum of a rectangle, a - b - c + d modulo 2^32, is exact if
 * it is itself below 2^32, even where the table has overflown. Sums of floats are the same in every
 * bit in every run; the error is at most sat_depth() * 2^-24 times the sum of the magnitudes.
 */
#ifndef STEP14_SAT_H
#define STEP14_SAT_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sat_size {
    size_t width, height;
    unsigned channels; /* 1, 3 or 4 */
};

cudaError_t sat_u8(void *workspace, size_t *bytes, uint32_t *table, const uint8_t *pixels,
                   struct sat_size, cudaStream_t stream);
cudaError_t sat_u16(void *workspace, size_t *bytes, uint32_t *table, const uint16_t *pixels,
                    struct sat_size, cudaStream_t stream);
cudaError_t sat_f32(void *workspace, size_t *bytes, float *table, const float *pixels,
                    struct sat_size, cudaStream_t stream);

/* The most additions on the way from a pixel to an entry of sat_f32's table. */
double sat_depth(struct sat_size);

/*
 * The mean of the width x width pixels around each pixel, rounded to the nearest: from width/2 to
 * the right and below to (width - 1)/2 to the left and above. Windows are cut at the picture's
 * borders and divided by the number of pixels that are left. A width is refused if the sum of a
 * window of white pixels reaches 2^32: with 8 bits beyond 4104, with 16 bits beyond 256, unless the
 * picture is smaller. Width 0 is refused as well.
 */
cudaError_t sat_box_u8(uint8_t *out, const uint32_t *table, struct sat_size, size_t width,
                       cudaStream_t stream);
cudaError_t sat_box_u16(uint16_t *out, const uint32_t *table, struct sat_size, size_t width,
                        cudaStream_t stream);

/*
 * Approximate depth of field: the same with a width for each pixel. depth has a sample for each
 * pixel, of the same type; where it is `focus` the width is 1, and it grows with the distance from
 * that, up to `width` for the sample from 0 to `farthest` that is furthest away, and for samples
 * beyond `farthest`. An even width is refused.
 */
struct sat_focus {
    unsigned focus, farthest;
    size_t width;
};
cudaError_t sat_blur_u8(uint8_t *out, const uint32_t *table, const uint8_t *depth, struct sat_size,
                        struct sat_focus, cudaStream_t stream);
cudaError_t sat_blur_u16(uint16_t *out, const uint32_t *table, const uint16_t *depth,
                         struct sat_size, struct sat_focus, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
