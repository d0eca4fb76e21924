/*
 * step14.h — what the files of step 14 share: what was asked for, the variants' launches, and what
 * is right.
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

struct request {
    size_t sides[2];   /* --size of a random picture; 0: --n decides */
    size_t channels;   /* --channels of it; 0: not given, 1 */
    size_t bits;       /* --bits of its samples; 0: not given, 8 */
    const char *sum;   /* --sum; NULL: the table is not written */
    const char *depth; /* --depth; NULL: none */
    double focus;      /* --focus, a fraction of the depth map's white; below 0: not given */
    size_t max_width;  /* --max-width; 0: not given */
    size_t box;        /* --box; 0: none */

    /* What driver.c makes of these and of the files. */
    enum variant variant;
    struct sat_size size;
    enum element element;    /* ELEMENT_I8, ELEMENT_I16: unsigned samples; ELEMENT_F32 */
    unsigned maximum;        /* of the samples, as the file says */
    struct sat_focus window; /* of the filter, of --box its width alone; 0: no filter */
};

/* More samples than any memory holds, and few enough that no product of a picture's sizes
 * overflows. */
#define SAMPLES_MOST ((size_t)1 << 56)

static inline bool sat_size_is_valid(struct sat_size size)
{
    size_t rows = size.height > 0 ? size.height : 1;
    if (size.channels != 1 && size.channels != 3 && size.channels != 4) return false;
    return rows <= SAMPLES_MOST && size.width <= SAMPLES_MOST / rows / size.channels;
}

/* Can the sum of a window of this width reach 2^32, if samples are at most `maximum`? */
static inline bool sat_window_overflows(struct sat_size size, size_t width, unsigned maximum)
{
    size_t across = width < size.width ? width : size.width;
    size_t down = width < size.height ? width : size.height;
    return across > 0 && down > UINT32_MAX / maximum / across;
}

/*
 * document.cu: the table as the document makes it, of floats, and transposed: the entry of (x, y)
 * and channel c is table[(x * height + y) * sat_document_channels(channels) + c]. Where there are
 * three channels, the fourth float of an entry is 0.
 */
static inline unsigned sat_document_channels(unsigned channels) { return channels == 1 ? 1 : 4; }

/* Bytes of the workspace, which may have any content. */
size_t sat_document_workspace(struct sat_size);

/* SHUFFLE: at least 128 pixels of 8-bit RGB are taken apart by shuffles, if they begin at a
 * multiple of 4 bytes. */
cudaError_t sat_document_table(float *table, const void *pixels, const struct request *,
                               void *workspace, cudaStream_t stream);

/* fast.cu: is the table of such a picture made by clusters, on the current device? Then a strip of
 * it reads its own pixels, and those left of it; this many in all. */
bool sat_takes_clusters(struct sat_size);
double sat_pixels_of_clusters(struct sat_size);

/* What it does, in this order; a phase alone, for experiments, needs what those before it have
 * left. */
enum phase { DEINTERLEAVE, SCAN_ROWS, TRANSPOSE, SCAN_COLUMNS, INTERLEAVE, PHASES };
cudaError_t sat_document_phase(enum phase, float *table, const void *pixels, const struct request *,
                               void *workspace, cudaStream_t stream);

/* Words that the scans and the transposition read and write for each sample, without the sums of
 * blocks. */
double sat_document_words(struct sat_size);

/* The most additions on the way from a pixel to an entry. */
double sat_document_depth(struct sat_size);

/* filter.cu: the filters of sat.h, by the document's table. depths: NULL where each pixel has the
 * same window. */
cudaError_t sat_document_filter(void *out, const float *table, const void *depths,
                                const struct request *, cudaStream_t stream);

/* ---- judge.c: is a result right? ------------------------------------------------------------- */

static inline size_t sat_samples(struct sat_size size)
{
    return size.width * size.height * size.channels;
}

/* Channels of an entry of a variant's table, and the place of the first one. */
static inline unsigned sat_entry_channels(const struct request *r)
{
    return r->variant == FAST ? r->size.channels : sat_document_channels(r->size.channels);
}
static inline size_t sat_place(const struct request *r, size_t x, size_t y)
{
    return (r->variant == FAST ? y * r->size.width + x : x * r->size.height + y) *
           sat_entry_channels(r);
}

/* An entry has four bytes a channel, whatever they are. */
static inline size_t sat_table_bytes(const struct request *r)
{
    return r->size.width * r->size.height * sat_entry_channels(r) * 4;
}

/* How far an entry of a table of floats may be from its sum, as a part of the sum of the magnitudes
 * of its pixels. */
double sat_relative_error(const struct request *);

struct verdict;

/* in: the pixels, and behind them the depths if there are any. out: the table, and behind it the
 * filtered picture. */
void sat_judge(struct verdict *, const struct request *, const void *in, const void *out);

/* table[(y * width + x) * channels + c]: the sums of the pixels, or of their magnitudes. Those of
 * integers are exact, because no picture has 2^37 samples. */
void sat_reference(double *table, const void *pixels, enum element, struct sat_size,
                   bool magnitudes);

#ifdef __cplusplus
}
#endif

#endif
