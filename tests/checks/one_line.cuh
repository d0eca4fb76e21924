/* one_line.cuh — barriers of one line of the source, which are different barriers: for sync-line
 * and sync-inlined. Of the threads, `size` in turn take one arm. */
#ifndef ONE_LINE_CUH
#define ONE_LINE_CUH

#include "pair.h"

/* Both arms of an if on one line, as they are in a macro. */
#define STORE_IN_ARMS(condition)                                                                   \
    if (condition) {                                                                               \
        out[threadIdx.x] = 1;                                                                      \
        __syncthreads();                                                                           \
    } else {                                                                                       \
        __syncthreads();                                                                           \
        out[threadIdx.x] = 2;                                                                      \
    }

static __device__ __forceinline__ int exchange(int *words, int value)
{
    words[threadIdx.x] = value;
    __syncthreads();
    return words[threadIdx.x ^ 1];
}

static __device__ __forceinline__ int exchange_next(int *words, int value)
{
    return exchange(words, value + 1);
}

/* Two calls, in two arms, execute the same barrier of the source. */
static __device__ void exchange_in_arms(int *out, int size)
{
    __shared__ int words[64];
    if (threadIdx.x / size % 2)
        out[threadIdx.x] = exchange_next(words, 1);
    else
        out[threadIdx.x] = exchange_next(words, 5) * 3;
}

/* The same, and one call follows the other. */
static __device__ void exchange_in_turn(int *out, int size)
{
    __shared__ int words[64];
    int value = 0;
    if (threadIdx.x / size % 2) value = exchange_next(words, 1);
    out[threadIdx.x] = value;
    if (threadIdx.x / size % 2 == 0) value = exchange_next(words, 5) * 3;
    out[threadIdx.x] += value;
}

#endif
