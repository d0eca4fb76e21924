/*
 * compact.h — stream compaction of device memory as a library, for programs in C and C++: the
 * elements that a predicate keeps, in their order, without gaps.
 *
 *     struct predicate positive = predicate_between(key_of_f32(0x1p-149f), key_of_f32(INFINITY));
 *     compact_f32(NULL, &bytes, NULL, NULL, NULL, n, NULL, stream);          how large a workspace?
 *     cudaMalloc(&workspace, bytes);
 *     compact_workspace_init(workspace, bytes, stream);                      once
 *     compact_f32(workspace, &bytes, out, kept, in, n, &positive, stream);   as often as you like
 *
 * workspace  NULL: sets *bytes to what n elements need, and does nothing else. Otherwise *bytes
 *            bytes of device memory, aligned to 16, which compact_workspace_init has cleared once.
 *            As for scan.h of step 12, with which it may be shared: one call at a time, of any type
 *            and any n for which it is large enough; it serves 2^31 - 1 calls.
 * out        room for the elements that are kept, at most n, in device memory. Not the same memory
 *            as `in`. What lies behind the elements that are kept is left as it is.
 * kept       device memory: how many were kept. The host learns it only if it copies it.
 * in         n elements in device memory, aligned to one element. n = 0 keeps none.
 * predicate  host memory; not needed any more when the call returns. Its keys are as wide as the
 *            elements.
 * stream     every launch goes there; the call does not wait. It may be captured into a graph.
 * Returns cudaSuccess; cudaErrorInvalidValue if the workspace is too small or not aligned, if the
 * predicate is NULL or has more than 16 intervals (for n = 0, too), or if n is of 2^31 tiles or
 * more; or an error of CUDA. An error that was there before stays for the caller's
 * cudaGetLastError.
 */
#ifndef STEP13_COMPACT_H
#define STEP13_COMPACT_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- predicates ------------------------------------------------------------------------------ */

/*
 * Which elements are kept: those in one of a few intervals.
 *
 * Elements of any type become unsigned keys that are in the same order (keep.cuh).
 * For real types -0 comes just before +0, and NaNs lie below -infinity or above +infinity. So every
 * expression of comparisons is a union of intervals of keys, and one subtraction and one comparison
 * tell whether a key is in an interval.
 */

#define COMPACT_INTERVALS_MOST 16

/* The keys low, …, low + span. */
struct key_interval {
    uint64_t low, span;
};

/* Keys are as wide as the elements. No interval: nothing is kept. */
struct predicate {
    unsigned count;
    struct key_interval interval[COMPACT_INTERVALS_MOST];
};

/* The keys of elements: x < y exactly if key(x) < key(y), but for the two zeros and NaNs. */
static inline uint32_t key_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static inline uint64_t key_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | 0x8000000000000000u;
}

static inline uint32_t key_of_i32(int32_t x) { return (uint32_t)x ^ 0x80000000u; }
static inline uint64_t key_of_i64(int64_t x) { return (uint64_t)x ^ 0x8000000000000000u; }

/* The elements from the first key to the last one; none if `last` is below `first`. */
static inline struct predicate predicate_between(uint64_t first, uint64_t last)
{
    struct predicate p = {first <= last, {{first, last - first}}};
    return p;
}

static inline bool predicate_keeps(const struct predicate *p, uint64_t key)
{
    for (unsigned i = 0; i < p->count; i++)
        if (key - p->interval[i].low <= p->interval[i].span) return true;
    return false;
}

/* ---- compaction ------------------------------------------------------------------------------ */

/* Clears a workspace. Needed once, before its first use. */
cudaError_t compact_workspace_init(void *workspace, size_t bytes, cudaStream_t stream);

cudaError_t compact_f32(void *workspace, size_t *bytes, float *out, uint64_t *kept, const float *in,
                        size_t n, const struct predicate *, cudaStream_t stream);
cudaError_t compact_f64(void *workspace, size_t *bytes, double *out, uint64_t *kept,
                        const double *in, size_t n, const struct predicate *, cudaStream_t stream);
cudaError_t compact_i32(void *workspace, size_t *bytes, int32_t *out, uint64_t *kept,
                        const int32_t *in, size_t n, const struct predicate *, cudaStream_t stream);
cudaError_t compact_i64(void *workspace, size_t *bytes, int64_t *out, uint64_t *kept,
                        const int64_t *in, size_t n, const struct predicate *, cudaStream_t stream);

/* Keeps in[i] where flags[i] is not 0 (n bytes of device memory). */
cudaError_t compact_flagged(void *workspace, size_t *bytes, uint8_t *out, uint64_t *kept,
                            const uint8_t *in, const uint8_t *flags, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
