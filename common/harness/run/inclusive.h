/*
 * inclusive.h — makes an inclusive scan of an exclusive one, as both documents describe it. The
 * result is shifted left by one element. The last place gets the sum of all elements, which needs
 * the last element of the input.
 */
#ifndef INCLUSIVE_H
#define INCLUSIVE_H

#include "common/step/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* to[0..n-1) = exclusive[1..n), to[n-1] = exclusive[n-1] + *last. All on the device, of the same
 * type; `to` and `exclusive` do not overlap. n > 0. */
cudaError_t inclusive_from_exclusive(enum element, void *to, const void *exclusive,
                                     const void *last, size_t n, cudaStream_t);
/* Does this to host arrays. */
void inclusive_from_exclusive_host(enum element, void *to, const void *exclusive, const void *last,
                                   size_t n);

#ifdef __cplusplus
}
#endif

#endif
