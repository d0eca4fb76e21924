/*
 * calls.c — the functions of upsweep/scan.h, table.h and select.h. Each calls a function of a step.
 * Sums without options other than inclusive are those of step 12, whose kernels add and nothing
 * else; other scans are those of step 16.
 */
#include "steps/12-pipeline/scan.h"
#include "steps/13-compaction/compact.h"
#include "steps/14-summed-area-table/sat.h"
#include "heads.h"
#include "scan/scan.h"
#include "upsweep/select.h"
#include "upsweep/table.h"

/* ---- scans ----------------------------------------------------------------------------------- */

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
        SCAN(scan_##operation(NULL, &needed, NULL, NULL, n, options, stream),                      \
             scan_##operation(workspace, bytes, (T *)out, (const T *)in, n, options, stream),      \
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
        SCAN(scan_##name(NULL, &needed, NULL, NULL, NULL, n, options, stream),                     \
             scan_##name(workspace, bytes, out, indices, in, n, options, stream),                  \
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
        SCAN(scan_affine_##name(NULL, &needed, NULL, NULL, NULL, n, options, stream),              \
             scan_affine_##name(workspace, bytes, out, a, b, n, options, stream),                  \
             BOTH(out, a) && is_array(b, sizeof *b));                                              \
    }                                                                                              \
    cudaError_t upsweep_scan_decay_##name(void *workspace, size_t *bytes, T *out, const T *in,     \
                                          T keep, T take, ARGUMENTS)                               \
    {                                                                                              \
        SCAN(scan_decay_##name(NULL, &needed, NULL, NULL, keep, take, n, options, stream),         \
             scan_decay_##name(workspace, bytes, out, in, keep, take, n, options, stream),         \
             BOTH(out, in));                                                                       \
    }

DEFINE_AFFINE(f32, float)
DEFINE_AFFINE(f64, double)

int upsweep_version(void) { return UPSWEEP_VERSION; }

cudaError_t upsweep_clear(void *workspace, size_t bytes, cudaStream_t stream)
{
    return cudaMemsetAsync(workspace, 0, bytes, stream);
}

/* ---- selection ------------------------------------------------------------------------------- */

/* Both have intervals of keys that are equal. */
static struct predicate predicate_of(const struct upsweep_predicate *p)
{
    struct predicate q = {.count = p->count};
    for (unsigned i = 0; i < p->count; i++)
        q.interval[i] = (struct key_interval){p->interval[i].low, p->interval[i].span};
    return q;
}

#define DEFINE_SELECT(name, T)                                                                     \
    cudaError_t upsweep_select_##name(void *workspace, size_t *bytes, T *out, uint64_t *kept,      \
                                      const T *in, const struct upsweep_predicate *predicate,      \
                                      size_t n, const struct upsweep_select_options *options,      \
                                      cudaStream_t stream)                                         \
    {                                                                                              \
        size_t needed = 0;                                                                         \
        bool done;                                                                                 \
        if (options && options->inverse) return cudaErrorNotSupported;                             \
        if (workspace && (!is_array(kept, sizeof *kept) || !predicate ||                           \
                          predicate->count > UPSWEEP_INTERVALS_MOST))                              \
            return cudaErrorInvalidValue;                                                          \
        cudaError_t error = compact_##name(NULL, &needed, NULL, NULL, NULL, n, NULL, stream);      \
        if (!error)                                                                                \
            error =                                                                                \
                begin_call(workspace, bytes, needed, options && options->cleared ? 0 : needed, n,  \
                           is_array(out, sizeof *out) && is_array(in, sizeof *in), stream, &done); \
        if (workspace && n == 0 && !error) return cudaMemsetAsync(kept, 0, sizeof *kept, stream);  \
        if (error || done) return error;                                                           \
        struct predicate p = predicate_of(predicate);                                              \
        return compact_##name(workspace, bytes, out, kept, in, n, &p, stream);                     \
    }

DEFINE_SELECT(f32, float)
DEFINE_SELECT(f64, double)
DEFINE_SELECT(i32, int32_t)
DEFINE_SELECT(i64, int64_t)

/* ---- tables ---------------------------------------------------------------------------------- */

#define DEFINE_TABLE(name, Pixel, Sum)                                                             \
    cudaError_t upsweep_table_##name(void *workspace, size_t *bytes, Sum *table,                   \
                                     const Pixel *pixels, size_t width, size_t height,             \
                                     unsigned channels, cudaStream_t stream)                       \
    {                                                                                              \
        struct sat_size size = {width, height, channels};                                          \
        size_t needed = 0, n = width > 0 && height > 0;                                            \
        bool done;                                                                                 \
        cudaError_t error = sat_##name(NULL, &needed, NULL, NULL, size, stream);                   \
        if (!error)                                                                                \
            error = begin_call(workspace, bytes, needed, 0, n,                                     \
                               is_array(table, sizeof *table) && is_array(pixels, sizeof *pixels), \
                               stream, &done);                                                     \
        if (error || done) return error;                                                           \
        return sat_##name(workspace, bytes, table, pixels, size, stream);                          \
    }

DEFINE_TABLE(u8, uint8_t, uint32_t)
DEFINE_TABLE(u16, uint16_t, uint32_t)
DEFINE_TABLE(f32, float, float)

#define DEFINE_BOX(name, Pixel)                                                                    \
    cudaError_t upsweep_box_##name(Pixel *out, const uint32_t *table, size_t width, size_t height, \
                                   unsigned channels, size_t window, cudaStream_t stream)          \
    {                                                                                              \
        struct sat_size size = {width, height, channels};                                          \
        bool given = is_array(out, sizeof *out) && is_array(table, sizeof *table);                 \
        if (width > 0 && height > 0 && !given) return cudaErrorInvalidValue;                       \
        return sat_box_##name(out, table, size, window, stream);                                   \
    }

DEFINE_BOX(u8, uint8_t)
DEFINE_BOX(u16, uint16_t)
