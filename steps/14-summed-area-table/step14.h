/*
 * step14.h — what the files of step 14 share: the variants and their launches, what was asked for,
 * and what is right.
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

/* What filters take: one width for all pixels, or one for each. */
struct window {
    size_t width;       /* where there are no depths */
    const void *depths; /* of the type of the pixels; NULL: none */
    struct sat_focus focus;
};

/* filter.cu: the filters of sat.h, by the document's table. */
cudaError_t sat_document_filter(void *out, const float *table, enum element, struct sat_size,
                                struct window, unsigned maximum, cudaStream_t stream);

/* ---- request.c: what was asked for ----------------------------------------------------------- */

struct fault;
struct input;
struct subject;
struct verdict;

struct request {
    size_t sides[2];    /* --size of a random picture; 0: --n decides */
    size_t channels;    /* --channels of it; 0: not given, 1 */
    size_t bits;        /* --bits of its samples; 0: not given, 8 */
    const char *sum;    /* --sum; NULL: the table is not written */
    const char *depth;  /* --depth; NULL: none */
    double focus;       /* --focus, a fraction of the depth map's white; below 0: not given */
    size_t max_width;   /* --max-width; 0: not given */
    size_t box;         /* --box; 0: none */

    /* What sat_request_input() makes of these and of the files. */
    enum variant variant;
    struct sat_size size;
    enum element element; /* ELEMENT_I8, ELEMENT_I16: unsigned samples; ELEMENT_F32 */
    unsigned maximum;     /* of the samples, as the file says */
    struct sat_focus blur;
};

extern const struct step_option sat_request_options[];

/* The verbs of the same names (step.h). The input is the picture, and behind it the depth map if
 * there is one, whose samples are scaled to all of the picture's range. */
int sat_request_plan(const struct subject *, struct input *, struct fault *);
int sat_request_input(const struct subject *, struct input *, struct fault *);

/* The input in a line. */
void sat_request_about(const struct request *, char *text, size_t size, const struct options *);

/* ---- judge.c: is a result right? ------------------------------------------------------------- */

static inline size_t sat_samples(struct sat_size size)
{
    return size.width * size.height * size.channels;
}

/* The place of an entry in a variant's table. */
static inline size_t judge_place(enum variant variant, struct sat_size size, size_t x, size_t y,
                                 unsigned channel)
{
    if (variant == FAST) return (y * size.width + x) * size.channels + channel;
    return (x * size.height + y) * sat_document_channels(size.channels) + channel;
}

/* Entries of a variant's table. */
static inline size_t judge_entries(enum variant variant, struct sat_size size)
{
    unsigned channels = variant == FAST ? size.channels : sat_document_channels(size.channels);
    return size.width * size.height * channels;
}

/* A result, and what it was made of. */
struct judged {
    enum variant variant;
    struct sat_size size;
    enum element element;
    const void *pixels;
    const void *table;
    const void *picture;  /* NULL: not filtered */
    struct window window; /* how it was */
};

/* How far an entry of a variant's table of floats may be from its sum, as a part of the sum of the
 * magnitudes of its pixels. */
double judge_relative_error(enum variant, struct sat_size);

void sat_judge(struct verdict *, const struct judged *);

/* table[(y * width + x) * channels + c]: the sums of the pixels, or of their magnitudes. Those of
 * integers are exact, because no picture has 2^37 samples. */
void sat_reference(double *table, const void *pixels, enum element, struct sat_size,
                   bool magnitudes);

#ifdef __cplusplus
}
#endif

#endif
