/*
 * scan.c — the functions of upsweep/scan.h. Each calls a function of step 16; but sums without
 * options other than inclusive are those of step 12, whose kernels add and nothing else.
 */
#include "common/library/call.h"
#include "common/library/scan_options.h"
#include "steps/12-pipeline/scan.h"

/* What only step 16 has. */
static bool is_plain(const struct upsweep_scan_options *o)
{
    return !o || !(o->reverse || o->row || o->columns || o->kind || o->initial);
}

/* Runs `size`, a call that sets `needed`, and then `call`; `arrays`: are they there? */
#define SCAN(size, call, arrays)                                                                   \
    do {                                                                                           \
        size_t needed = 0;                                                                         \
        bool done;                                                                                 \
        cudaError_t error = (size);                                                                \
        if (!error)                                                                                \
            error = begin_call(workspace, bytes, needed, options && options->cleared ? 0 : needed, \
                               n, (arrays) && heads_given(options), stream, &done);                \
        return error || done ? error : (call);                                                     \
    } while (0)

/* Are both there, and aligned? */
#define BOTH(x, y) (is_array(x, sizeof *(x)) && is_array(y, sizeof *(y)))

#define ARGUMENTS size_t n, const struct upsweep_scan_options *options, cudaStream_t stream

/* An operator with one input of step 16. Types of the same bits may stand for each other. */
#define DEFINE_SCAN(name, operation, Public, T)                                                    \
    cudaError_t upsweep_scan_##name(void *workspace, size_t *bytes, Public *out, const Public *in, \
                                    ARGUMENTS)                                                     \
    {                                                                                              \
        struct scan_options o = options_of_scan(options);                                          \
        SCAN(scan_##operation(NULL, &needed, NULL, NULL, n, &o, stream),                           \
             scan_##operation(workspace, bytes, (T *)out, (const T *)in, n, &o, stream),           \
             BOTH(out, in));                                                                       \
    }

/* A sum without options, by step 12. */
#define PLAIN_SUM(name, T, Sum)                                                                    \
    if (options && options->inclusive)                                                             \
        SCAN(scan_inclusive_##name(NULL, &needed, NULL, NULL, n, stream),                          \
             scan_inclusive_##name(workspace, bytes, (Sum *)out, (const T *)in, n, stream),        \
             BOTH(out, in));                                                                       \
    SCAN(scan_exclusive_##name(NULL, &needed, NULL, NULL, n, stream),                              \
         scan_exclusive_##name(workspace, bytes, (Sum *)out, (const T *)in, n, stream),            \
         BOTH(out, in))

#define DEFINE_SUM(name, Public, plain, Plain, other, Other)                                       \
    static DEFINE_SCAN(optional_sum_##name, sum_##other, Public, Other)                            \
        cudaError_t upsweep_scan_sum_##name(void *workspace, size_t *bytes, Public *out,           \
                                            const Public *in, ARGUMENTS)                           \
    {                                                                                              \
        if (!is_plain(options))                                                                    \
            return upsweep_scan_optional_sum_##name(workspace, bytes, out, in, n, options,         \
                                                    stream);                                       \
        PLAIN_SUM(plain, Plain, Plain);                                                            \
    }

#define DEFINE_SHORT_SUM(name, T)                                                                  \
    cudaError_t upsweep_scan_sum_##name(void *workspace, size_t *bytes, int32_t *out, const T *in, \
                                        ARGUMENTS)                                                 \
    {                                                                                              \
        if (!is_plain(options)) return cudaErrorNotSupported;                                      \
        PLAIN_SUM(name, T, int32_t);                                                               \
    }

DEFINE_SUM(f32, float, f32, float, f32, float)
DEFINE_SUM(f64, double, f64, double, f64, double)
DEFINE_SUM(i32, int32_t, i32, int32_t, i32, int32_t)
DEFINE_SUM(u32, uint32_t, i32, int32_t, i32, int32_t)
DEFINE_SUM(i64, int64_t, u64, uint64_t, i64, int64_t)
DEFINE_SUM(u64, uint64_t, u64, uint64_t, i64, int64_t)
DEFINE_SHORT_SUM(i8, int8_t)
DEFINE_SHORT_SUM(i16, int16_t)

DEFINE_SCAN(product_f32, product_f32, float, float)
DEFINE_SCAN(product_f64, product_f64, double, double)
DEFINE_SCAN(product_i64, product_i64, int64_t, int64_t)
DEFINE_SCAN(product_u64, product_i64, uint64_t, int64_t)
DEFINE_SCAN(max_f32, max_f32, float, float)
DEFINE_SCAN(max_f64, max_f64, double, double)
DEFINE_SCAN(max_i32, max_i32, int32_t, int32_t)
DEFINE_SCAN(max_i64, max_i64, int64_t, int64_t)
DEFINE_SCAN(min_f32, min_f32, float, float)
DEFINE_SCAN(min_f64, min_f64, double, double)
DEFINE_SCAN(min_i32, min_i32, int32_t, int32_t)
DEFINE_SCAN(min_i64, min_i64, int64_t, int64_t)
DEFINE_SCAN(xor_u32, xor_u32, uint32_t, uint32_t)
DEFINE_SCAN(xor_u64, xor_u64, uint64_t, uint64_t)
DEFINE_SCAN(logsumexp_f32, logsumexp_f32, float, float)
DEFINE_SCAN(logsumexp_f64, logsumexp_f64, double, double)

#define DEFINE_INDEXED(name, T)                                                                    \
    cudaError_t upsweep_scan_##name(void *workspace, size_t *bytes, T *out, int64_t *indices,      \
                                    const T *in, ARGUMENTS)                                        \
    {                                                                                              \
        struct scan_options o = options_of_scan(options);                                          \
        SCAN(scan_##name(NULL, &needed, NULL, NULL, NULL, n, &o, stream),                          \
             scan_##name(workspace, bytes, out, indices, in, n, &o, stream),                       \
             BOTH(out, in) && is_array(indices, sizeof *indices));                                 \
    }

DEFINE_INDEXED(argmax_f32, float)
DEFINE_INDEXED(argmax_f64, double)
DEFINE_INDEXED(argmax_i32, int32_t)
DEFINE_INDEXED(argmax_i64, int64_t)
DEFINE_INDEXED(argmin_f32, float)
DEFINE_INDEXED(argmin_f64, double)
DEFINE_INDEXED(argmin_i32, int32_t)
DEFINE_INDEXED(argmin_i64, int64_t)

#define DEFINE_AFFINE(name, T)                                                                     \
    cudaError_t upsweep_scan_affine_##name(void *workspace, size_t *bytes, T *out, const T *a,     \
                                           const T *b, ARGUMENTS)                                  \
    {                                                                                              \
        struct scan_options o = options_of_scan(options);                                          \
        SCAN(scan_affine_##name(NULL, &needed, NULL, NULL, NULL, n, &o, stream),                   \
             scan_affine_##name(workspace, bytes, out, a, b, n, &o, stream),                       \
             BOTH(out, a) && is_array(b, sizeof *b));                                              \
    }                                                                                              \
    cudaError_t upsweep_scan_decay_##name(void *workspace, size_t *bytes, T *out, const T *in,     \
                                          T keep, T take, ARGUMENTS)                               \
    {                                                                                              \
        struct scan_options o = options_of_scan(options);                                          \
        SCAN(scan_decay_##name(NULL, &needed, NULL, NULL, keep, take, n, &o, stream),              \
             scan_decay_##name(workspace, bytes, out, in, keep, take, n, &o, stream),              \
             BOTH(out, in));                                                                       \
    }

DEFINE_AFFINE(f32, float)
DEFINE_AFFINE(f64, double)

int upsweep_version(void) { return UPSWEEP_VERSION; }

cudaError_t upsweep_clear(void *workspace, size_t bytes, cudaStream_t stream)
{
    return cudaMemsetAsync(workspace, 0, bytes, stream);
}
