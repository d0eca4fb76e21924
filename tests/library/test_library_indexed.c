/* test_library_indexed.c — argmax and argmin against a loop: equal elements, -0, NaN, infinities,
 * each option, and each kernel. */
#include "tests/library/calls.h"
#include "tests/support/cudart_check.h"
#include "tests/support/random.h"

#include <math.h>
#include <stdlib.h>

TestSuite(library_indexed, .timeout = 300);

/* ---- the reference --------------------------------------------------------------------------- */

/* Holds numbers of all four types exactly. */
static long double number_at(enum type type, const void *array, size_t i)
{
    switch (type) {
    case F32: return ((const float *)array)[i];
    case F64: return ((const double *)array)[i];
    case I32: return ((const int32_t *)array)[i];
    default: return (long double)((const int64_t *)array)[i];
    }
}

/* Does x take the place of the largest or smallest number so far? By the rule of torch.cummax. */
static bool replaces(enum operation operation, long double x, long double best)
{
    if (isnan(x)) return true;
    return !isnan(best) && (operation == ARGMAX ? x >= best : x <= best);
}

static long double result_of_none(const struct function *f)
{
    bool narrow = f->in == I32;
    if (f->in == F32 || f->in == F64) return f->operation == ARGMAX ? -INFINITY : INFINITY;
    if (f->operation == ARGMAX) return narrow ? INT32_MIN : INT64_MIN;
    return narrow ? INT32_MAX : INT64_MAX;
}

/* The index of element i as the caller counts it. */
static int64_t counted(size_t i, const struct upsweep_scan_options *o)
{
    return (int64_t)(o->columns ? i / o->columns : o->row ? i % o->row : i);
}

static void expect_result(const struct function *f, const void *out, int64_t index, const void *in,
                          size_t i, int64_t best, const struct upsweep_scan_options *o)
{
    size_t size = type_bytes[f->in];
    int64_t want = best < 0 ? -1 : counted((size_t)best, o);
    cr_assert(index == want, "%s, element %zu: index %lld, not %lld", f->name, i, (long long)index,
              (long long)want);
    if (best < 0)
        cr_assert(number_at(f->out, out, i) == result_of_none(f), "%s, element %zu", f->name, i);
    else
        cr_assert(memcmp((const char *)out + i * size, (const char *)in + best * size, size) == 0,
                  "%s, element %zu is not that of its index", f->name, i);
}

/* head[i]: element i begins a sequence; NULL: one sequence, rows or columns. */
static void expect_indexed(const struct function *f, const void *out, const int64_t *indices,
                           const void *in, size_t n, const struct upsweep_scan_options *o,
                           const bool *head)
{
    size_t columns = o->columns ? o->columns : 1;
    int64_t *best = malloc(columns * sizeof *best);
    for (size_t c = 0; c < columns; c++) best[c] = -1;
    for (size_t k = 0; k < n; k++) {
        size_t i = o->reverse ? n - 1 - k : k, next = o->reverse ? i + 1 : i;
        int64_t *mine = &best[i % columns];
        if (o->row ? next % o->row == 0 : head && next < n && head[next]) *mine = -1;
        int64_t before = *mine;
        long double x = number_at(f->in, in, i);
        if (before < 0 || replaces(f->operation, x, number_at(f->in, in, (size_t)before)))
            *mine = (int64_t)i;
        expect_result(f, out, indices[i], in, i, o->inclusive ? *mine : before, o);
    }
    free(best);
}

/* ---- input ----------------------------------------------------------------------------------- */

/* A walk, so that the largest element changes often; with many equal elements, zeros of both signs,
 * extremes, and at the end some NaNs. */
static void fill(enum type type, void *in, size_t n)
{
    int walk = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned chance = random_bits() % 1000;
        bool nan = i > n / 2 && chance < 3;
        walk += (int)(random_bits() % 9) - 4;
        double real = nan                         ? (double)NAN
                      : chance < 50               ? -0.0
                      : chance < 100              ? -(double)INFINITY
                      : chance < 110 && i > n / 3 ? (double)INFINITY
                                                  : walk;
        if (type == F32) ((float *)in)[i] = (float)real;
        if (type == F64) ((double *)in)[i] = real;
        if (type == I32) ((int32_t *)in)[i] = chance < 100 ? INT32_MIN : walk;
        if (type == I64) ((int64_t *)in)[i] = chance < 100 ? INT64_MIN : walk;
    }
}

static void index_and_expect(const struct function *f, size_t n,
                             const struct upsweep_scan_options *o, const bool *head)
{
    struct arguments a = {.n = n, .scan = o};
    size_t bytes = (n + 1) * type_bytes[f->in];
    void *in = malloc(bytes), *out = malloc(bytes);
    int64_t *indices = malloc((n + 1) * sizeof *indices);
    fill(f->in, in, n);
    call_once(f, &a, in, NULL, 0, out, indices);
    expect_indexed(f, out, indices, in, n, o, head);
    free(in), free(out), free(indices);
}

static bool is_indexed(const struct function *f)
{
    return f->operation == ARGMAX || f->operation == ARGMIN;
}

/* ---- tests ----------------------------------------------------------------------------------- */

Test(library_indexed, each_type_and_size_slow)
{
    static const size_t sizes[] = {0, 1, 31, 1024, 4097, 70003};
    for (size_t k = 0; k < function_count; k++)
        for (size_t s = 0; is_indexed(&functions[k]) && s < LENGTH(sizes); s++)
            for (int flags = 0; flags < (sizes[s] > 4097 ? 1 : 4); flags++) {
                struct upsweep_scan_options o = {.inclusive = !(flags & 1), .reverse = flags & 2};
                index_and_expect(&functions[k], sizes[s], &o, NULL);
            }
}

/* Rows and columns of many shapes: long ones, short ones, and rows of one element. */
Test(library_indexed, rows_and_columns_slow)
{
    static const size_t shapes[][2] = {{300, 7}, {7, 300}, {1, 40}, {40, 1}, {3, 6000}, {6000, 3}};
    for (size_t k = 0; k < function_count; k++)
        for (size_t s = 0; is_indexed(&functions[k]) && s < LENGTH(shapes); s++)
            for (int flags = 0; flags < 4; flags++) {
                struct upsweep_scan_options o = {.inclusive = !(flags & 1), .reverse = flags & 2};
                o.row = shapes[s][1];
                index_and_expect(&functions[k], shapes[s][0] * shapes[s][1], &o, NULL);
                o.row = 0, o.columns = shapes[s][1];
                index_and_expect(&functions[k], shapes[s][0] * shapes[s][1], &o, NULL);
            }
}

/* Indices then count from the begin of the array. */
Test(library_indexed, sequences_of_any_length_slow)
{
    enum { N = 5000 };
    static uint32_t bits[(N + 31) / 32], *heads;
    static bool head[N];
    for (size_t i = 0; i < N; i++)
        if ((head[i] = random_bits() % 60 == 0)) bits[i / 32] |= 1u << i % 32;
    heads = device_memory(sizeof bits);
    ok(cudaMemcpy(heads, bits, sizeof bits, cudaMemcpyHostToDevice));
    for (size_t k = 0; k < function_count; k++)
        for (int flags = 0; is_indexed(&functions[k]) && flags < 4; flags++) {
            struct upsweep_scan_options o = {.inclusive = !(flags & 1),
                                             .reverse = flags & 2,
                                             .kind = UPSWEEP_HEADS_BITS,
                                             .heads = heads};
            index_and_expect(&functions[k], N, &o, head);
        }
    ok(cudaFree(heads));
}

/* The kernels for many elements: that of aligned arrays, which here writes into its input, and that
 * of others. */
Test(library_indexed, many_elements_slow)
{
    const size_t n = ((size_t)1 << 19) + 77;
    struct upsweep_scan_options o = {.inclusive = true};
    const struct function *f = NULL;
    for (size_t k = 0; k < function_count && !f; k++)
        if (is_indexed(&functions[k])) f = &functions[k];
    float *in = malloc((n + 1) * sizeof *in), *out = malloc((n + 1) * sizeof *out);
    int64_t *indices = malloc(n * sizeof *indices), *there = device_memory(n * sizeof *there);
    for (size_t shift = 0; shift < 2; shift++) {
        float *x = device_memory((n + shift) * sizeof *x);
        size_t bytes = 0;
        fill(F32, in, n);
        ok(cudaMemcpy(x + shift, in, n * sizeof *in, cudaMemcpyHostToDevice));
        ok(upsweep_scan_argmax_f32(NULL, &bytes, NULL, NULL, NULL, n, &o, NULL));
        void *workspace = device_memory(bytes);
        ok(upsweep_scan_argmax_f32(workspace, &bytes, x + shift, there, x + shift, n, &o, NULL));
        ok(cudaMemcpy(out, x + shift, n * sizeof *out, cudaMemcpyDeviceToHost));
        ok(cudaMemcpy(indices, there, n * sizeof *indices, cudaMemcpyDeviceToHost));
        expect_indexed(f, out, indices, in, n, &o, NULL);
        ok(cudaFree(workspace)), ok(cudaFree(x));
    }
    free(in), free(out), free(indices);
    ok(cudaFree(there));
}
