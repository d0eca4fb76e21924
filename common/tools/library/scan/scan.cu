/*
 * scan.cu — the functions of scan.h, each of scan.cuh's scan() with one operator and one type.
 *
 * Each is about ten kernels, so nvcc takes a minute or two for all of them. make compiles this file
 * once for each part below, with -DONLY=SUM_REALS or the like, and several parts at a time. Without
 * ONLY, all functions are compiled.
 */
#include "scan.cuh"

#define SUM_REALS    1
#define SUM_INTEGERS 2
#define MAX_REALS    3
#define MAX_INTEGERS 4
#define MIN          5
#define PRODUCT      6
#define XOR          7
#define LOGSUMEXP    8
#define AFFINE       9
#define OTHERS       10
#define ARGMAX       11
#define ARGMIN       12

#ifdef ONLY
#define HAS(part) (ONLY == part)
#else
#define HAS(part) 1
#endif

/* OP: an operator. HEADS: true for all kinds of heads. */
#define DEFINE_SCAN(name, OP, HEADS)                                                               \
    cudaError_t scan_##name(void *workspace, size_t *bytes, OP::Out *out, const OP::In *in,        \
                            size_t n, const struct upsweep_scan_options *options,                  \
                            cudaStream_t stream)                                                   \
    {                                                                                              \
        return scan<OP, HEADS>(OP(), workspace, bytes, out, in, NULL, n, options, stream);         \
    }

#define DEFINE_REALS(name, Op, HEADS)                                                              \
    DEFINE_SCAN(name##_f32, Op<float>, HEADS)                                                      \
    DEFINE_SCAN(name##_f64, Op<double>, HEADS)
#define DEFINE_INTEGERS(name, Op, HEADS)                                                           \
    DEFINE_SCAN(name##_i32, Op<int32_t>, HEADS)                                                    \
    DEFINE_SCAN(name##_i64, Op<int64_t>, HEADS)

#if HAS(SUM_REALS)
DEFINE_REALS(sum, sum_operator, true)
#endif
#if HAS(SUM_INTEGERS)
DEFINE_INTEGERS(sum, sum_operator, true)
#endif
#if HAS(MAX_REALS)
DEFINE_REALS(max, max_operator, true)
#endif
#if HAS(MAX_INTEGERS)
DEFINE_INTEGERS(max, max_operator, true)
#endif
#if HAS(MIN)
DEFINE_REALS(min, min_operator, false)
DEFINE_INTEGERS(min, min_operator, false)
#endif
#if HAS(PRODUCT)
DEFINE_REALS(product, product_operator, false)
DEFINE_SCAN(product_i64, product_operator<int64_t>, false)
#endif
#if HAS(XOR)
DEFINE_SCAN(xor_u32, xor_operator<uint32_t>, false)
DEFINE_SCAN(xor_u64, xor_operator<uint64_t>, false)
#endif
#if HAS(LOGSUMEXP)
DEFINE_REALS(logsumexp, logsumexp_operator, false)
#endif

#if HAS(AFFINE)
#define DEFINE_AFFINE(name, T)                                                                     \
    cudaError_t scan_affine_##name(void *workspace, size_t *bytes, T *out, const T *a, const T *b, \
                                   size_t n, const struct upsweep_scan_options *options,           \
                                   cudaStream_t stream)                                            \
    {                                                                                              \
        return scan<affine_operator<T>>({}, workspace, bytes, out, a, b, n, options, stream);      \
    }                                                                                              \
    cudaError_t scan_decay_##name(void *workspace, size_t *bytes, T *out, const T *in, T keep,     \
                                  T take, size_t n, const struct upsweep_scan_options *options,    \
                                  cudaStream_t stream)                                             \
    {                                                                                              \
        decay_operator<T> op;                                                                      \
        op.keep = keep, op.take = take;                                                            \
        return scan(op, workspace, bytes, out, in, NULL, n, options, stream);                      \
    }
DEFINE_AFFINE(f32, float)
DEFINE_AFFINE(f64, double)
#endif

/* Without an initial value, whose index nobody knows. Indices of 4-byte elements are of 32 bits in
 * the kernels. */
#define DEFINE_INDEXED(name, T, MIN)                                                               \
    cudaError_t scan_##name(void *workspace, size_t *bytes, T *out, int64_t *indices, const T *in, \
                            size_t n, const struct upsweep_scan_options *options,                  \
                            cudaStream_t stream)                                                   \
    {                                                                                              \
        argmax_operator<T, MIN> op;                                                                \
        op.row = options ? options->row : 0;                                                       \
        if (options && options->initial) return cudaErrorNotSupported;                             \
        if (sizeof(T) == 4 && n > UINT32_MAX) return cudaErrorInvalidValue;                        \
        return scan(op, workspace, bytes, {out, indices}, in, NULL, n, options, stream);           \
    }

#define DEFINE_ALL_INDEXED(name, MIN)                                                              \
    DEFINE_INDEXED(name##_f32, float, MIN)                                                         \
    DEFINE_INDEXED(name##_f64, double, MIN)                                                        \
    DEFINE_INDEXED(name##_i32, int32_t, MIN)                                                       \
    DEFINE_INDEXED(name##_i64, int64_t, MIN)

#if HAS(ARGMAX)
DEFINE_ALL_INDEXED(argmax, false)
#endif
#if HAS(ARGMIN)
DEFINE_ALL_INDEXED(argmin, true)
#endif

#if HAS(OTHERS)
DEFINE_SCAN(brackets, brackets_operator, false)

cudaError_t scan_sight_f32(void *workspace, size_t *bytes, int32_t *out, const float *heights,
                           const float *distances, float eye, size_t n,
                           const struct upsweep_scan_options *options, cudaStream_t stream)
{
    sight_operator op;
    op.height = eye;
    if (options && (options->inclusive || options->initial)) return cudaErrorInvalidValue;
    return scan(op, workspace, bytes, out, heights, distances, n, options, stream);
}

cudaError_t scan_operators_init(void *workspace, size_t bytes, cudaStream_t stream)
{
    return cudaMemsetAsync(workspace, 0, bytes, stream);
}
#endif
