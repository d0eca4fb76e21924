/* calls.c — calls.h: the table of functions, and the memory of a call. */
#include "tests/unit/library/calls.h"
#include "tests/support/cudart_check.h"

#include <stdlib.h>

const size_t type_bytes[TYPES] = {1, 1, 2, 2, 2, 2, 4, 4, 4, 8, 8, 8, 16};

/* ---- a function for each row ----------------------------------------------------------------- */

#define SCANS(X)                                                                                   \
    X(sum_f32, SUM, F32, F32)                                                                      \
    X(sum_f64, SUM, F64, F64)                                                                      \
    X(sum_i32, SUM, I32, I32)                                                                      \
    X(sum_i64, SUM, I64, I64)                                                                      \
    X(sum_u32, SUM, U32, U32)                                                                      \
    X(sum_u64, SUM, U64, U64)                                                                      \
    X(sum_i8, SUM, I8, I32)                                                                        \
    X(sum_i16, SUM, I16, I32)                                                                      \
    X(product_f32, PRODUCT, F32, F32)                                                              \
    X(product_f64, PRODUCT, F64, F64)                                                              \
    X(product_i64, PRODUCT, I64, I64)                                                              \
    X(product_u64, PRODUCT, U64, U64)                                                              \
    X(max_f32, MAX, F32, F32)                                                                      \
    X(max_f64, MAX, F64, F64)                                                                      \
    X(max_i32, MAX, I32, I32)                                                                      \
    X(max_i64, MAX, I64, I64)                                                                      \
    X(min_f32, MIN, F32, F32)                                                                      \
    X(min_f64, MIN, F64, F64)                                                                      \
    X(min_i32, MIN, I32, I32)                                                                      \
    X(min_i64, MIN, I64, I64)                                                                      \
    X(xor_u32, XOR, U32, U32)                                                                      \
    X(xor_u64, XOR, U64, U64)                                                                      \
    X(logsumexp_f32, LOGSUMEXP, F32, F32)                                                          \
    X(logsumexp_f64, LOGSUMEXP, F64, F64)
#define AFFINES(X)                                                                                 \
    X(affine_f32, AFFINE, F32, F32)                                                                \
    X(affine_f64, AFFINE, F64, F64)
#define DECAYS(X)                                                                                  \
    X(decay_f32, DECAY, F32, F32)                                                                  \
    X(decay_f64, DECAY, F64, F64)
#define INDEXED(X)                                                                                 \
    X(argmax_f32, ARGMAX, F32, F32)                                                                \
    X(argmax_f64, ARGMAX, F64, F64)                                                                \
    X(argmax_i32, ARGMAX, I32, I32)                                                                \
    X(argmax_i64, ARGMAX, I64, I64)                                                                \
    X(argmin_f32, ARGMIN, F32, F32)                                                                \
    X(argmin_f64, ARGMIN, F64, F64)                                                                \
    X(argmin_i32, ARGMIN, I32, I32)                                                                \
    X(argmin_i64, ARGMIN, I64, I64)
#define SELECTS(X)                                                                                 \
    X(select_f32, SELECT, F32, F32)                                                                \
    X(select_f64, SELECT, F64, F64)                                                                \
    X(select_i32, SELECT, I32, I32)                                                                \
    X(select_i64, SELECT, I64, I64)
#define FLAGS(X)                                                                                   \
    X(select_flagged_b8, FLAGGED, U8, U8)                                                          \
    X(select_flagged_b16, FLAGGED, U16, U16)                                                       \
    X(select_flagged_b32, FLAGGED, U32, U32)                                                       \
    X(select_flagged_b64, FLAGGED, U64, U64)                                                       \
    X(select_flagged_b128, FLAGGED, B128, B128)                                                    \
    X(partition_b8, PARTITION, U8, U8)                                                             \
    X(partition_b16, PARTITION, U16, U16)                                                          \
    X(partition_b32, PARTITION, U32, U32)                                                          \
    X(partition_b64, PARTITION, U64, U64)                                                          \
    X(partition_b128, PARTITION, B128, B128)
#define NONZEROS(X)                                                                                \
    X(nonzero_i8, NONZERO, I8, U64)                                                                \
    X(nonzero_i16, NONZERO, I16, U64)                                                              \
    X(nonzero_i32, NONZERO, I32, U64)                                                              \
    X(nonzero_i64, NONZERO, I64, U64)                                                              \
    X(nonzero_f16, NONZERO, F16, U64)                                                              \
    X(nonzero_bf16, NONZERO, BF16, U64)                                                            \
    X(nonzero_f32, NONZERO, F32, U64)                                                              \
    X(nonzero_f64, NONZERO, F64, U64)                                                              \
    X(nonzero32_i8, NONZERO, I8, U32)                                                              \
    X(nonzero32_i16, NONZERO, I16, U32)                                                            \
    X(nonzero32_i32, NONZERO, I32, U32)                                                            \
    X(nonzero32_i64, NONZERO, I64, U32)                                                            \
    X(nonzero32_f16, NONZERO, F16, U32)                                                            \
    X(nonzero32_bf16, NONZERO, BF16, U32)                                                          \
    X(nonzero32_f32, NONZERO, F32, U32)                                                            \
    X(nonzero32_f64, NONZERO, F64, U32)
#define SORTS(X)                                                                                   \
    X(u8, U8)                                                                                      \
    X(i8, I8)                                                                                      \
    X(u16, U16)                                                                                    \
    X(i16, I16)                                                                                    \
    X(f16, F16)                                                                                    \
    X(bf16, BF16)                                                                                  \
    X(u32, U32)                                                                                    \
    X(i32, I32)                                                                                    \
    X(f32, F32)                                                                                    \
    X(u64, U64)                                                                                    \
    X(i64, I64)                                                                                    \
    X(f64, F64)
#define TABLES(X)                                                                                  \
    X(table_u8, TABLE, U8, U32)                                                                    \
    X(table_u16, TABLE, U16, U32)                                                                  \
    X(table_f32, TABLE, F32, F32)

#define CALL(name, ...)                                                                            \
    static cudaError_t name(const struct arguments *a)                                             \
    {                                                                                              \
        return upsweep_##name(a->workspace, a->bytes, __VA_ARGS__);                                \
    }
#define CALL_SCAN(name, ...) CALL(scan_##name, a->out, a->in, a->n, a->scan, a->stream)
#define CALL_AFFINE(name, ...)                                                                     \
    CALL(scan_##name, a->out, a->in, a->more_in, a->n, a->scan, a->stream)
#define CALL_DECAY(name, ...) CALL(scan_##name, a->out, a->in, KEEP, TAKE, a->n, a->scan, a->stream)
#define CALL_INDEXED(name, ...)                                                                    \
    CALL(scan_##name, a->out, a->more_out, a->in, a->n, a->scan, a->stream)
#define CALL_SELECT(name, ...)                                                                     \
    CALL(name, a->out, a->more_out, a->in, a->predicate, a->n, a->select, a->stream)
#define CALL_FLAGS(name, ...)                                                                      \
    CALL(name, a->out, a->more_out, a->in, a->more_in, a->n, a->select, a->stream)
#define CALL_NONZERO(name, ...) CALL(name, a->out, a->more_out, a->in, a->n, a->select, a->stream)
#define CALL_SORTS(name, type)                                                                     \
    CALL(sort_keys_##name, a->out, a->in, a->n, a->sort, a->stream)                                \
    CALL(sort_pairs_##name, a->out, a->more_out, a->in, a->more_in, a->value_bytes, a->n, a->sort, \
         a->stream)
/* A picture of one row. */
#define CALL_TABLE(name, ...) CALL(name, a->out, a->in, a->n, 1, 1, a->stream)

SCANS(CALL_SCAN)
AFFINES(CALL_AFFINE)
DECAYS(CALL_DECAY)
INDEXED(CALL_INDEXED)
SELECTS(CALL_SELECT)
FLAGS(CALL_FLAGS)
NONZEROS(CALL_NONZERO)
SORTS(CALL_SORTS)
TABLES(CALL_TABLE)

#define SCAN_ROW(name, operation, in, out) {"scan_" #name, operation, in, out, scan_##name},
#define ROW(name, operation, in, out)      {#name, operation, in, out, name},
#define SORT_ROWS(name, type)                                                                      \
    {"sort_keys_" #name, KEYS, type, type, sort_keys_##name},                                      \
        {"sort_pairs_" #name, PAIRS, type, type, sort_pairs_##name},
const struct function functions[] = {
    SCANS(SCAN_ROW) AFFINES(SCAN_ROW) DECAYS(SCAN_ROW) INDEXED(SCAN_ROW) SELECTS(ROW) FLAGS(ROW)
        NONZEROS(ROW) SORTS(SORT_ROWS) TABLES(ROW)};
const size_t function_count = LENGTH(functions);

struct upsweep_predicate some_predicate(enum type type)
{
    switch (type) {
    case F32: return upsweep_between(upsweep_key_f32(-1), upsweep_key_f32(2));
    case F64: return upsweep_between(upsweep_key_f64(-1), upsweep_key_f64(2));
    case I32: return upsweep_between(upsweep_key_i32(-1), upsweep_key_i32(2));
    default: return upsweep_between(upsweep_key_i64(-1), upsweep_key_i64(2));
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void *device_copy(const void *from, size_t bytes)
{
    void *to = device_memory(bytes);
    ok(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
    return to;
}

static size_t more_out_bytes(const struct function *f, const struct arguments *a)
{
    if (f->operation == PAIRS) return a->n * a->value_bytes;
    if (f->operation == ARGMAX || f->operation == ARGMIN) return a->n * sizeof(int64_t);
    return f->operation >= SELECT && f->operation <= NONZERO ? sizeof(uint64_t) : 0;
}

void memory_open(struct memory *m, const struct function *f, const struct arguments *wanted,
                 const void *in, const void *more_in, size_t more_bytes)
{
    struct arguments size = *wanted;
    *m = (struct memory){.a = *wanted};
    m->out_bytes = wanted->n * type_bytes[f->out];
    m->more_out_bytes = more_out_bytes(f, wanted);
    m->a.bytes = &m->bytes, size.bytes = &m->bytes, size.workspace = NULL;
    cr_assert(f->call(&size) == cudaSuccess, "%s says no size for %zu elements", f->name, size.n);
    m->a.workspace = device_memory(m->bytes + (m->bytes == 0));
    ok(cudaMemset(m->a.workspace, 0xff, m->bytes));
    if (m->out_bytes > 0) {
        m->a.out = device_memory(m->out_bytes);
        ok(cudaMemset(m->a.out, 0xab, m->out_bytes));
        m->a.in = device_copy(in, wanted->n * type_bytes[f->in]);
    }
    if (m->more_out_bytes > 0) {
        m->a.more_out = device_memory(m->more_out_bytes);
        ok(cudaMemset(m->a.more_out, 0xab, m->more_out_bytes));
    }
    if (more_in && more_bytes > 0) m->a.more_in = device_copy(more_in, more_bytes);
}

void memory_close(struct memory *m)
{
    cudaFree(m->a.workspace), cudaFree(m->a.out), cudaFree(m->a.more_out);
    cudaFree((void *)m->a.in), cudaFree((void *)m->a.more_in);
}

void call_once(const struct function *f, const struct arguments *wanted, const void *in,
               const void *more_in, size_t more_bytes, void *out, void *more_out)
{
    struct memory m;
    memory_open(&m, f, wanted, in, more_in, more_bytes);
    cudaError_t error = f->call(&m.a);
    if (!error) error = cudaDeviceSynchronize();
    cr_assert(error == cudaSuccess, "%s of %zu elements: %s", f->name, wanted->n,
              cudaGetErrorString(error));
    if (m.out_bytes > 0) ok(cudaMemcpy(out, m.a.out, m.out_bytes, cudaMemcpyDeviceToHost));
    if (more_out && m.more_out_bytes > 0)
        ok(cudaMemcpy(more_out, m.a.more_out, m.more_out_bytes, cudaMemcpyDeviceToHost));
    memory_close(&m);
}
