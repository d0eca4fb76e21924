/*
 * step14.h — what the files of step 14 share: the variants and their launches.
 */
#ifndef STEP14_H
#define STEP14_H

#include "common/step/cuda_check.h"
#include "common/step/step.h"
#include "sat.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum variant { FAST, DOCUMENT, SHUFFLE };

/* More samples than any memory holds, and few enough that no product of a picture's sizes
 * overflows. */
#define SAMPLES_MOST ((size_t)1 << 56)

static inline bool sat_size_is_valid(struct sat_size size)
{
    size_t rows = size.height > 0 ? size.height : 1;
    if (size.channels != 1 && size.channels != 3 && size.channels != 4) return false;
    return rows <= SAMPLES_MOST && size.width <= SAMPLES_MOST / rows / size.channels;
}

/*
 * document.cu: the table as the document makes it, of floats, and transposed: the entry of (x, y)
 * and channel c is table[(x * height + y) * sat_document_channels(channels) + c]. Where there are
 * three channels, the fourth float of an entry is 0.
 */
static inline unsigned sat_document_channels(unsigned channels) { return channels == 1 ? 1 : 4; }

/* Bytes of the workspace, which may have any content. */
size_t sat_document_workspace(struct sat_size);

/* Shuffles take apart structures of three bytes, in groups of this many pixels. */
enum { SHUFFLE_GROUP = 128 };

/* The reason why these pixels cannot be taken apart by shuffles; NULL: they can. */
const char *sat_no_shuffle(const void *pixels, enum element, struct sat_size);

/* pixels: ELEMENT_I8 and ELEMENT_I16 stand for unsigned samples here, ELEMENT_F32 for floats.
 * `shuffle`: the pixels are taken apart by shuffles, except where sat_no_shuffle has a reason. */
cudaError_t sat_document_table(float *table, const void *pixels, enum element, struct sat_size,
                               bool shuffle, void *workspace, cudaStream_t stream);

/* What it does, in this order; a phase alone, for experiments, needs what those before it have
 * left. */
enum phase { DEINTERLEAVE, SCAN_ROWS, TRANSPOSE, SCAN_COLUMNS, INTERLEAVE, PHASES };
cudaError_t sat_document_phase(enum phase, float *table, const void *pixels, enum element,
                               struct sat_size, bool shuffle, void *workspace, cudaStream_t stream);

/* Words that the scans and the transposition read and write for each sample, without the sums of
 * blocks. */
double sat_document_words(struct sat_size);

/* The most additions on the way from a pixel to an entry. */
double sat_document_depth(struct sat_size);

/* filter.cu: the filters of sat.h, by the document's table. */
cudaError_t sat_document_box(void *out, const float *table, enum element, struct sat_size,
                             size_t width, unsigned maximum, cudaStream_t stream);
cudaError_t sat_document_blur(void *out, const float *table, const void *depth, enum element,
                              struct sat_size, struct sat_focus, unsigned maximum,
                              cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
