/* data.cu — casts of the numbers to a type, and comparisons, on the device. */
#include "common/step/cuda_check.h"
#include "common/step/launch_kernel.cuh"
#include "bench.h"

#define THREADS 256
#define BLOCKS  4096 /* the most blocks; each goes on through the array */

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

/* Counts the elements for which got[i] is not want[i] - *minus (0 if NULL), and finds the first of
 * them. */
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
    return launch_kernel(cast<T, S>, blocks_for(n), THREADS, 0, NULL, (T *)to, from, n);
}

template <typename T, typename S>
static cudaError_t launch_compare(const void *got, const void *want, const void *minus, size_t n,
                                  struct difference *found)
{
    return launch_kernel(compare<T, S>, blocks_for(n), THREADS, 0, NULL, (const T *)got,
                         (const S *)want, (const S *)minus, n, found);
}

extern "C" cudaError_t cast_numbers(enum element element, void *to, const int8_t *from, size_t n)
{
#define CAST(name, type, sum)                                                                      \
    case name: return launch_cast<type>(to, from, n);
    switch (element) {
        ELEMENT_TYPES(CAST)
    }
#undef CAST
    return cudaErrorInvalidValue;
}

extern "C" cudaError_t cast_sums(enum element element, void *to, const int32_t *from, size_t n)
{
#define CAST(name, type, sum)                                                                      \
    case name: return launch_cast<sum>(to, from, n);
    switch (element) {
        ELEMENT_TYPES(CAST)
    }
#undef CAST
    return cudaErrorInvalidValue;
}

extern "C" cudaError_t compare_sums(enum element element, const void *got, const void *want,
                                    const void *minus, size_t n, struct difference *found)
{
#define COMPARE(name, type, sum)                                                                   \
    case name: return launch_compare<sum, sum>(got, want, minus, n, found);
    switch (element) {
        ELEMENT_TYPES(COMPARE)
    }
#undef COMPARE
    return cudaErrorInvalidValue;
}

extern "C" cudaError_t compare_numbers(enum element element, const void *got, const int8_t *want,
                                       size_t n, struct difference *found)
{
#define COMPARE(name, type, sum)                                                                   \
    case name: return launch_compare<type, int8_t>(got, want, NULL, n, found);
    switch (element) {
        ELEMENT_TYPES(COMPARE)
    }
#undef COMPARE
    return cudaErrorInvalidValue;
}
