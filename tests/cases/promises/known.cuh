/*
 * known.cuh — arrays whose sums are known, on the device: element i is height(i + 1) - height(i),
 * so the elements before i add up to height(i) - height(0), for every i. Each height depends only
 * on its index, and is small enough that sums are exact in every order of additions.
 */
#ifndef KNOWN_CUH
#define KNOWN_CUH

#include "common/step/cuda_check.h"
#include "steps/12-pipeline/scan.h"

/* Bits of a height. A difference fits an element. Sums of 2^10 of them, in any order, fit a sum. */
template <typename In> struct height_bits;
#define HEIGHT_BITS(In, bits)                                                                      \
    template <> struct height_bits<In> {                                                           \
        enum { COUNT = bits };                                                                     \
    };
HEIGHT_BITS(float, 14)
HEIGHT_BITS(double, 30)
HEIGHT_BITS(int32_t, 32)
HEIGHT_BITS(uint64_t, 64)
HEIGHT_BITS(int16_t, 15)
HEIGHT_BITS(int8_t, 7)

/* SplitMix64 (Steele, Lea, Flood 2014). */
template <typename In> static __device__ uint64_t height(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) >> (64 - height_bits<In>::COUNT);
}

/* As a signed number of 64 bits, which wraps around as the integer types do. */
template <typename In> static __device__ int64_t height_between(uint64_t from, uint64_t to)
{
    return (int64_t)(height<In>(to) - height<In>(from));
}

#define KNOWN_THREADS 256
#define KNOWN_BLOCKS  2048 /* at most; each block takes several parts of the array */

template <typename In> static __global__ void fill(In *in, size_t n)
{
    size_t threads = (size_t)gridDim.x * KNOWN_THREADS;
    for (size_t i = (size_t)blockIdx.x * KNOWN_THREADS + threadIdx.x; i < n; i += threads)
        in[i] = (In)height_between<In>(i, i + 1);
}

/* Adds the number of wrong sums to *wrong. */
template <typename In, typename Sum>
static __global__ void check(const Sum *out, size_t n, bool inclusive, unsigned long long *wrong)
{
    size_t threads = (size_t)gridDim.x * KNOWN_THREADS;
    unsigned long long found = 0;
    for (size_t i = (size_t)blockIdx.x * KNOWN_THREADS + threadIdx.x; i < n; i += threads)
        found += out[i] != (Sum)height_between<In>(0, i + inclusive);
    if (found > 0) atomicAdd(wrong, found);
}

static unsigned known_blocks(size_t n)
{
    size_t blocks = (n + KNOWN_THREADS - 1) / KNOWN_THREADS;
    return (unsigned)(blocks < KNOWN_BLOCKS ? blocks : KNOWN_BLOCKS);
}

template <typename In> static cudaError_t known_fill(In *in, size_t n, cudaStream_t stream)
{
    fill<<<known_blocks(n), KNOWN_THREADS, 0, stream>>>(in, n);
    return cudaGetLastError();
}

template <typename In, typename Sum>
static cudaError_t known_check(const Sum *out, size_t n, bool inclusive, unsigned long long *wrong,
                               cudaStream_t stream)
{
    check<In><<<known_blocks(n), KNOWN_THREADS, 0, stream>>>(out, n, inclusive, wrong);
    return cudaGetLastError();
}

/* scan.h's function for the types. */
#define ANY_SCAN(name, In, Sum)                                                                    \
    static inline cudaError_t scan(bool inclusive, void *workspace, size_t *bytes, Sum *out,       \
                                   const In *in, size_t n, cudaStream_t stream)                    \
    {                                                                                              \
        return (inclusive ? scan_inclusive_##name : scan_exclusive_##name)(workspace, bytes, out,  \
                                                                           in, n, stream);         \
    }
ANY_SCAN(f32, float, float)
ANY_SCAN(f64, double, double)
ANY_SCAN(i32, int32_t, int32_t)
ANY_SCAN(u64, uint64_t, uint64_t)
ANY_SCAN(i16, int16_t, int32_t)
ANY_SCAN(i8, int8_t, int32_t)

/* A workspace for n elements, cleared; its bytes. */
template <typename In, typename Sum>
static cudaError_t make_workspace(void **workspace, size_t *bytes, size_t n)
{
    CUDA_TRY(scan(false, NULL, bytes, (Sum *)NULL, (const In *)NULL, n, NULL));
    CUDA_TRY(cudaMalloc(workspace, *bytes));
    return scan_workspace_init(*workspace, *bytes, NULL);
}

#endif
