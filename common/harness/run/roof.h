/*
 * roof.h — measures the roof: how fast this device copies. A scan reads and writes at least as
 * much as a copy, so no scan can be faster. Three ways to copy are timed, and the fastest one
 * counts. Which one that is depends on the GPU and on its driver.
 */
#ifndef ROOF_H
#define ROOF_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ROOF_ALIGNMENT 16 /* of both pointers, in bytes: a float4 */

/* Copies between device pointers that do not overlap and are aligned to ROOF_ALIGNMENT. */
typedef cudaError_t copy_fn(void *to, const void *from, size_t bytes, cudaStream_t);

struct roof_way {
    const char *name;
    copy_fn *copy;
};
#define ROOF_WAYS 3
extern const struct roof_way roof_ways[ROOF_WAYS];

/* The ways to copy are cudaMemcpyAsync and these two: one float4 per thread (step 0 uses it, too),
 * and bulk copies through shared memory (roof_bulk.cu). Below compute capability 9.0 the second is
 * the same as the first. */
copy_fn roof_copy_kernel, roof_copy_bulk;

/* For these ways: copies bytes `done` to `bytes`, the rest that does not fill a float4. */
cudaError_t roof_copy_rest(void *to, const void *from, size_t done, size_t bytes, cudaStream_t);

struct roof {
    size_t bytes;         /* bytes copied; each is moved twice: read and written */
    struct timing timing; /* of the fastest way */
    const char *how;      /* its name */
};

/* Times copies of `bytes` from `from` to `to` in every way. Returns 0 or EXIT_DEVICE. */
int roof_measure(struct timer *, void *to, const void *from, size_t bytes, int reps, struct roof *,
                 struct fault *);

#ifdef __cplusplus
}
#endif

#endif
