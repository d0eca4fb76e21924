/*
 * inclusive.cu — the shift that turns an exclusive scan into an inclusive one.
 */
#include "common/step/cuda_check.h"
#include "common/step/element.h"
#include "common/step/launch_kernel.cuh"
#include "inclusive.h"

#include <string.h>

/* The sum of all elements: the last one of the exclusive scan, and the last element. */
template <typename element, typename sum>
static __global__ void add_last(sum *to, const sum *exclusive, const element *last)
{
    *to = *exclusive + *last;
}

template <typename element, typename sum>
static cudaError_t launch(void *to, const void *exclusive, const void *last, size_t n,
                          cudaStream_t stream)
{
    sum *out = (sum *)to;
    const sum *in = (const sum *)exclusive;
    CUDA_TRY(cudaMemcpyAsync(out, in + 1, (n - 1) * sizeof(sum), cudaMemcpyDeviceToDevice, stream));
    return launch_kernel(add_last<element, sum>, 1, 1, 0, stream, out + n - 1, in + n - 1,
                         (const element *)last);
}

extern "C" cudaError_t inclusive_from_exclusive(enum element element, void *to,
                                                const void *exclusive, const void *last, size_t n,
                                                cudaStream_t stream)
{
#define LAUNCH(name, type, sum)                                                                    \
    case name: return launch<type, sum>(to, exclusive, last, n, stream);
    switch (element) {
        ELEMENT_TYPES(LAUNCH)
    }
#undef LAUNCH
    return cudaErrorInvalidValue;
}

template <typename element, typename sum>
static void shift(void *to, const void *exclusive, const void *last, size_t n)
{
    sum *out = (sum *)to;
    const sum *in = (const sum *)exclusive;
    memcpy(out, in + 1, (n - 1) * sizeof(sum));
    out[n - 1] = in[n - 1] + *(const element *)last;
}

extern "C" void inclusive_from_exclusive_host(enum element element, void *to, const void *exclusive,
                                              const void *last, size_t n)
{
#define SHIFT(name, type, sum)                                                                     \
    case name: shift<type, sum>(to, exclusive, last, n); break;
    switch (element) {
        ELEMENT_TYPES(SHIFT)
    }
#undef SHIFT
}
