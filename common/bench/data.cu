/*
 * data.cu — casts of the numbers to a type, and comparisons, on the device.
 */
#include "common/harness/cuda_check.h"
#include "data.h"

#define THREADS 256
#define BLOCKS  4096 /* at most; each goes on through the array */

static unsigned blocks_for(size_t n)
{
    size_t blocks = (n + THREADS - 1) / THREADS;
    return (unsigned)(blocks < BLOCKS ? blocks : BLOCKS);
}

/* A loop over i in [0, n), spread over all threads of the grid. */
#define FOR_EACH(i, n)                                                                             \
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < (n);                           \
         i += (size_t)gridDim.x * THREADS)

template <typename T, typename S> static __global__ void cast(T *to, const S *from, size_t n)
{
    FOR_EACH(i, n) to[i] = (T)from[i];
}

/* Counts where got[i] + *minus (0 if NULL) is not want[i], and finds the first such i. */
template <typename T, typename S>
static __global__ void compare(const T *got, const S *want, const S *minus, size_t n,
                               struct difference *found)
{
    FOR_EACH(i, n)
    {
        if (got[i] == (T)(minus ? want[i] - *minus : want[i])) continue;
        atomicAdd(&found->count, 1ull);
        atomicMin(&found->first, (unsigned long long)i);
    }
}

template <typename T, typename S> static cudaError_t launch_cast(void *to, const S *from, size_t n)
{
    cast<<<blocks_for(n), THREADS>>>((T *)to, from, n);
    return cudaGetLastError();
}

template <typename T, typename S>
static cudaError_t launch_compare(const void *got, const void *want, const void *minus, size_t n,
                                  struct difference *found)
{
    compare<<<blocks_for(n), THREADS>>>((const T *)got, (const S *)want, (const S *)minus, n,
                                        found);
    return cudaGetLastError();
}

extern "C" cudaError_t cast_numbers(enum element element, void *to, const int8_t *from, size_t n)
{
    switch (element) {
    case ELEMENT_F32: return launch_cast<float>(to, from, n);
    case ELEMENT_F64: return launch_cast<double>(to, from, n);
    case ELEMENT_I32: return launch_cast<int32_t>(to, from, n);
    case ELEMENT_I64: return launch_cast<int64_t>(to, from, n);
    case ELEMENT_I16: return launch_cast<int16_t>(to, from, n);
    case ELEMENT_I8: return launch_cast<int8_t>(to, from, n);
    }
    return cudaErrorInvalidValue;
}

extern "C" cudaError_t cast_sums(enum element element, void *to, const int32_t *from, size_t n)
{
    switch (element_of_sum(element)) {
    case ELEMENT_F32: return launch_cast<float>(to, from, n);
    case ELEMENT_F64: return launch_cast<double>(to, from, n);
    case ELEMENT_I64: return launch_cast<int64_t>(to, from, n);
    default: return launch_cast<int32_t>(to, from, n);
    }
}

extern "C" cudaError_t compare_sums(enum element element, const void *got, const void *want,
                                    const void *minus, size_t n, struct difference *found)
{
    switch (element_of_sum(element)) {
    case ELEMENT_F32: return launch_compare<float, float>(got, want, minus, n, found);
    case ELEMENT_F64: return launch_compare<double, double>(got, want, minus, n, found);
    case ELEMENT_I64: return launch_compare<int64_t, int64_t>(got, want, minus, n, found);
    default: return launch_compare<int32_t, int32_t>(got, want, minus, n, found);
    }
}

extern "C" cudaError_t compare_numbers(enum element element, const void *got, const int8_t *want,
                                       size_t n, struct difference *found)
{
    switch (element) {
    case ELEMENT_F32: return launch_compare<float, int8_t>(got, want, NULL, n, found);
    case ELEMENT_F64: return launch_compare<double, int8_t>(got, want, NULL, n, found);
    case ELEMENT_I32: return launch_compare<int32_t, int8_t>(got, want, NULL, n, found);
    case ELEMENT_I64: return launch_compare<int64_t, int8_t>(got, want, NULL, n, found);
    case ELEMENT_I16: return launch_compare<int16_t, int8_t>(got, want, NULL, n, found);
    case ELEMENT_I8: return launch_compare<int8_t, int8_t>(got, want, NULL, n, found);
    }
    return cudaErrorInvalidValue;
}
