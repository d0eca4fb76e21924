/*
 * roof.h — the roof: how fast this device copies. No scan can be faster, since it reads and writes
 * as much. The best of cudaMemcpyAsync and of a kernel that copies a float4 a thread.
 */
#ifndef ROOF_H
#define ROOF_H

#include "timing.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ROOF_ALIGNMENT 16 /* of both pointers, in bytes: a float4 */

struct roof {
    size_t bytes;         /* copied: twice as many moved */
    struct timing timing; /* of the faster one */
    const char *how;      /* "cudaMemcpyAsync" or "float4 kernel" */
};

/* Times copies of `bytes` from `from` to `to`: device pointers that do not overlap and are aligned
 * to ROOF_ALIGNMENT. Returns 0 or EXIT_DEVICE. */
int roof_measure(struct timer *, void *to, const void *from, size_t bytes, int reps, struct roof *,
                 struct fault *);

/* The copy kernel by itself, for step 0: one float4 a thread, and cudaMemcpyAsync for
 * the bytes behind the last one. */
cudaError_t roof_copy_kernel(void *to, const void *from, size_t bytes, cudaStream_t);

#ifdef __cplusplus
}
#endif

#endif
