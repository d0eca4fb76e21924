/*
 * document.h — the sort as GPU Gems 3 describes it in 39.3.3, and with the lecture's sort of a
 * warp. Keys alone; otherwise as sort.h says, and with the names of its types.
 */
#ifndef STEP15_DOCUMENT_H
#define STEP15_DOCUMENT_H

#include "common/step/element.h"
#include "sort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How chunks are sorted before they are merged, and how many keys they have. */
enum chunks { CHUNKS_SPLIT, CHUNKS_BITONIC };
#define SPLIT_THREADS   1024
#define SPLIT_KEYS      4 /* keys a thread */
#define SPLIT_CHUNK     (SPLIT_THREADS * SPLIT_KEYS)
#define BITONIC_CHUNK   32 /* a warp's */
#define BITONIC_THREADS 256

/* How many times the merges read and write all keys. */
unsigned sort_document_levels(size_t n, enum chunks);

/* Bytes of the workspace, which need not be cleared. */
size_t sort_document_workspace(size_t n, enum element);

cudaError_t sort_document(enum chunks, enum element, void *workspace, void *out, const void *in,
                          size_t n, enum sort_order, cudaStream_t);

#ifdef __cplusplus
}
#endif

#endif
