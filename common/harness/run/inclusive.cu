/*
 * inclusive.cu — the shift that turns an exclusive scan into an inclusive one.
 */
#include "common/harness/cuda_check.h"
#include "common/harness/element.h"
#include "inclusive.h"

#include <string.h>

/* The sum of all: what the exclusive scan has last, and the last element. */
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
    add_last<<<1, 1, 0, stream>>>(out + n - 1, in + n - 1, (const element *)last);
    return cudaGetLastError();
}

extern "C" cudaError_t inclusive_from_exclusive(enum element element, void *to,
                                                const void *exclusive, const void *last, size_t n,
                                                cudaStream_t stream)
{
    switch (element) {
    case ELEMENT_F32: return launch<float, float>(to, exclusive, last, n, stream);
    case ELEMENT_F64: return launch<double, double>(to, exclusive, last, n, stream);
    case ELEMENT_I32: return launch<int32_t, int32_t>(to, exclusive, last, n, stream);
    case ELEMENT_I64: return launch<int64_t, int64_t>(to, exclusive, last, n, stream);
    case ELEMENT_I16: return launch<int16_t, int32_t>(to, exclusive, last, n, stream);
    case ELEMENT_I8: return launch<int8_t, int32_t>(to, exclusive, last, n, stream);
    }
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
    switch (element) {
    case ELEMENT_F32: shift<float, float>(to, exclusive, last, n); break;
    case ELEMENT_F64: shift<double, double>(to, exclusive, last, n); break;
    case ELEMENT_I32: shift<int32_t, int32_t>(to, exclusive, last, n); break;
    case ELEMENT_I64: shift<int64_t, int64_t>(to, exclusive, last, n); break;
    case ELEMENT_I16: shift<int16_t, int32_t>(to, exclusive, last, n); break;
    case ELEMENT_I8: shift<int8_t, int32_t>(to, exclusive, last, n); break;
    }
}
