/*
 * step15.h — what the files of step 15 share: the document's sort, and what the user asks for.
 */
#ifndef STEP15_H
#define STEP15_H

#include "common/step/element.h"
#include "sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The document's sort, as GPU Gems 3 describes it in 39.3.3, and with the lecture's sort of a warp.
 * Keys alone; otherwise as sort.h says, and with the names of its types. */

enum variant { FAST, DOCUMENT, BITONIC };

/* How many keys the chunks have that are sorted before they are merged. */
#define SPLIT_THREADS   1024
#define SPLIT_KEYS      4 /* keys a thread */
#define SPLIT_CHUNK     (SPLIT_THREADS * SPLIT_KEYS)
#define BITONIC_CHUNK   32 /* a warp's */
#define BITONIC_THREADS 256

/* How many times the merges read and write all keys. */
unsigned sort_document_levels(size_t n, enum variant);

/* The workspace has room for n keys, and need not be cleared. */
cudaError_t sort_document(enum variant, enum element, void *workspace, void *out, const void *in,
                          size_t n, enum sort_order, cudaStream_t);

/* ---- what the user asks for ------------------------------------------------------------------ */

struct fault;
struct input;
struct problem;
struct verdict;

/* A text file, and its lines with their newlines. All zero: none has been read. */
struct text_lines {
    char *bytes;
    size_t length;
    struct line {
        const char *text;
        size_t length;
    } * line;
};

struct request {
    struct type_asked type; /* --type of the keys */
    bool pairs;             /* --pairs: the values are the keys' indices */
    bool descending;
    bool lines;             /* --lines: keys are the first 8 bytes of lines */
    const char *values;     /* --values: a file; NULL: none */
    struct text_lines text; /* with --lines */
};

/* Does a value, its index, go with each key? */
static inline bool request_has_values(const struct request *r) { return r->pairs || r->lines; }

/* driver.c: judges every key and value of a result by a sort on the CPU (the verb judge). */
void sort_judge(const struct subject *, const struct problem *, const void *out,
                struct verdict *);

/* lines.c: the lines of a file ("-": stdin); their first 8 bytes, the first one uppermost, become
 * the input: uint64, with zeros after a shorter line. Returns 0, or EXIT_USAGE and a sentence. */
int sort_text_read(struct text_lines *, struct input *, const char *path, struct fault *);
void sort_text_free(struct text_lines *);

/* Writes the lines in the order of `index` (n of them), those with equal keys sorted on the host by
 * all of their bytes. */
int sort_text_write(const struct text_lines *, bool descending, const uint32_t *index, size_t n,
                    const char *path, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
