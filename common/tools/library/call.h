/*
 * call.h — the part that the calls of the library have in common, between asking for the size of a
 * workspace and the launches (upsweep/version.h says what callers see).
 */
#ifndef LIBRARY_CALL_H
#define LIBRARY_CALL_H

#include "common/tools/library/upsweep/scan.h"

#define WORKSPACE_ALIGNMENT 256

/* Is an array there, and aligned to its elements? */
static inline bool is_array(const void *array, size_t element)
{
    return array && (uintptr_t)array % element == 0;
}

/* needed: bytes of the workspace. clear: how many of them have to be cleared. arrays: are all
 * arrays right that n > 0 elements need? *done: the call ends with what this function returns. */
static inline cudaError_t begin_call(void *workspace, size_t *bytes, size_t needed, size_t clear,
                                     size_t n, bool arrays, cudaStream_t stream, bool *done)
{
    *done = true;
    if (!bytes) return cudaErrorInvalidValue;
    if (!workspace) {
        *bytes = needed;
        return cudaSuccess;
    }
    if (n == 0) return cudaSuccess;
    if (*bytes < needed || (uintptr_t)workspace % WORKSPACE_ALIGNMENT || !arrays)
        return cudaErrorInvalidValue;
    *done = false;
    return clear > 0 ? cudaMemsetAsync(workspace, 0, clear, stream) : cudaSuccess;
}

#endif
