/*
 * step13.h — what the files of step 13 share: one compaction, and the three ways to do it.
 */
#ifndef STEP13_H
#define STEP13_H

#include "common/step/cuda_check.h"
#include "common/step/step.h"
#include "compact.h"

#ifdef __cplusplus
extern "C" {
#endif

enum variant { FAST, DOCUMENT, ATOMIC };

/* One compaction of n elements, as compact.h describes it. */
struct compaction {
    enum element element; /* ELEMENT_I8: bytes, of which `flags` says what is kept */
    void *out;
    uint64_t *kept;
    const void *in;
    size_t n;
    const struct predicate *predicate; /* on the host */
    const uint8_t *flags;              /* on the device */
    void *workspace;
    size_t bytes; /* of the workspace */
    cudaStream_t stream;
};

#define COMPACT_THREADS 256 /* of a block of document.cu and atomic.cu */

/* Parts of a workspace begin at multiples of 256 bytes. */
static inline size_t padded(size_t bytes) { return (bytes + 255) / 256 * 256; }

/* document.cu: predicate, scan, scatter. n below 2^32. The workspace has document_workspace(n)
 * bytes, and was cleared once, or again for another n. */
size_t document_workspace(size_t n);
cudaError_t compact_document(const struct compaction *);

/* atomic.cu: the kept elements in any order. No workspace. */
cudaError_t compact_atomic(const struct compaction *);

/*
 * lines.cu: which bytes of a text belong to lines that contain `text` (`length` bytes without a
 * newline), or to those that do not, if `invert`. flags[i] becomes 1 or 0. Upper and lower case of
 * ASCII letters are the same if `ignore_case`. The workspace has lines_workspace(n) bytes, and was
 * cleared once, or again for another n. n below 2^31.
 */
#define TEXT_MOST 256

struct search {
    char text[TEXT_MOST];
    unsigned length;
    bool ignore_case, invert;
};

size_t lines_workspace(size_t n);
cudaError_t flag_lines(uint8_t *flags, const uint8_t *in, size_t n, const struct search *,
                       void *workspace, size_t bytes, cudaStream_t stream);

struct fault;

/* driver.c: what the user writes after --keep, as condition_read (input.h) reads it. */
int predicate_parse(struct predicate *, const char *expression, enum element, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
