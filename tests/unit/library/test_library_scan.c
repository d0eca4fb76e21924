/*
 * test_library_scan.c — the library's scans beside the engine's, which test_operators.c compares
 * with a reference: each operator and type; argmax and argmin against a loop, with
 * equal elements, -0, NaN and infinities.
 */
#include "common/tools/library/scan/scan.h"
#include "tests/unit/library/calls.h"
#include "tests/support/cudart_check.h"

#include <math.h>
#include <stdlib.h>

TestSuite(library_scan, .timeout = 300);

/* ---- beside the functions that they call ----------------------------------------------------- */

/* The engine's function for one of the library's: types of as many bits stand for each other. */
static const struct scan_function *engine_of(const struct function *f)
{
    char name[40];
    snprintf(name, sizeof name, "%s", f->name + strlen("scan_"));
    if ((f->in == U32 || f->in == U64) && f->operation != XOR) name[strlen(name) - 3] = 'i';
    const struct scan_function *e = scan_functions;
    while (e->name && strcmp(e->name, name) != 0) e++;
    cr_assert(e->name, "%s", name);
    return e;
}

/* Random bits, or floats that are whole numbers, whose sums are exact. */
static void *input_for(const struct function *f, size_t n)
{
    unsigned char *in = malloc((n + 1) * 8);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = random_bits();
        int x = f->operation == PRODUCT ? (bits & 1 ? 1 : -1) : (int)(bits % 7) - 3;
        if (f->in == F32)
            ((float *)in)[i] = (float)x;
        else if (f->in == F64)
            ((double *)in)[i] = x;
        else
            memcpy(in + i * type_bytes[f->in], &bits, type_bytes[f->in]);
    }
    return in;
}

/* The library's function leaves the bits that the engine's does. */
static void expect_scan(const struct function *f, size_t n, const struct upsweep_scan_options *o)
{
    size_t bytes, all = n * type_bytes[f->out];
    unsigned char *in = input_for(f, n), *more = input_for(f, n);
    unsigned char *got = malloc(all + 1), *want = malloc(all + 1);
    struct memory m;
    memory_open(&m, f, &(struct arguments){.n = n, .scan = o}, in, more, n * type_bytes[f->in]);
    ok(f->call(&m.a));
    if (n) ok(cudaMemcpy(got, m.a.out, all, cudaMemcpyDeviceToHost));
    struct scan_call call = {NULL, &bytes, m.a.out,  m.a.in, m.a.more_in, n,
                             KEEP, TAKE,   0, o, NULL};
    ok(engine_of(f)->call(&call));
    call.workspace = device_memory(bytes);
    ok(scan_operators_init(call.workspace, bytes, NULL));
    if (n) ok(cudaMemset(m.a.out, 0xcd, all));
    ok(engine_of(f)->call(&call));
    if (n) ok(cudaMemcpy(want, m.a.out, all, cudaMemcpyDeviceToHost));
    cr_assert(memcmp(got, want, all) == 0, "%s, n = %zu", f->name, n);
    ok(cudaFree(call.workspace));
    memory_close(&m);
    free(in), free(more), free(got), free(want);
}

static bool is_short(const struct function *f) { return f->in == I8 || f->in == I16; }

Test(library_scan, each_operator_type_and_size_slow)
{
    static const size_t sizes[] = {0, 1, 31, 4097, 100003};
    for (size_t k = 0; k < function_count && functions[k].operation <= DECAY; k++)
        for (size_t s = 0; s < 2 * LENGTH(sizes) && !is_short(&functions[k]); s++)
            expect_scan(
                &functions[k], sizes[s / 2],
                &(struct upsweep_scan_options){.inclusive = s % 2, .reverse = s / 2 % 2});
}

/* Sums of short integers have no other kernels than those of step 12. */
Test(library_scan, short_sums_slow)
{
    struct upsweep_scan_options o[] = {{.reverse = true},
                                       {.row = 1},
                                       {.columns = 1},
                                       {.kind = UPSWEEP_HEADS_BITS},
                                       {.initial = &o}};
    enum { N = 5000 };
    static int32_t out[N];
    size_t bytes = 0;
    for (size_t k = 0; k < function_count; k++) {
        const struct function *f = &functions[k];
        if (!is_short(f) || f->operation != SUM) continue;
        for (size_t i = 0; i < LENGTH(o); i++)
            is(f->call(&(struct arguments){.n = 5, .scan = &o[i], .bytes = &bytes}),
               cudaErrorNotSupported);
        unsigned char *in = input_for(f, N);
        int32_t sum = 0;
        call_once(f, &(struct arguments){.n = N}, in, NULL, 0, out, NULL);
        for (size_t i = 0; i < N; i++) {
            cr_assert_eq(out[i], sum, "%s, element %zu", f->name, i);
            sum += f->in == I8 ? ((int8_t *)in)[i] : ((int16_t *)in)[i];
        }
        free(in);
    }
}

/* Larger than 2^22, so that all of step 12's kernels for aligned arrays have had a turn. */
Test(library_scan, in_place_and_large_slow)
{
    const size_t n = ((size_t)9 << 20) + 5;
    size_t bytes = 0;
    int32_t *x = device_memory(n * sizeof *x), *host = malloc(n * sizeof *host);
    ok(cudaMemset(x, 0x01, n * sizeof *x));
    ok(upsweep_scan_sum_i32(NULL, &bytes, NULL, NULL, n, NULL, NULL));
    void *workspace = device_memory(bytes);
    ok(cudaMemset(workspace, 0xff, bytes));
    ok(upsweep_scan_sum_i32(workspace, &bytes, x, x, n, NULL, NULL));
    ok(cudaMemcpy(host, x, n * sizeof *host, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++)
        cr_assert((uint32_t)host[i] == (uint32_t)i * 0x01010101u, "element %zu", i);
    free(host);
    ok(cudaFree(x)), ok(cudaFree(workspace));
}

/* ---- maxima and minima with their indices ---------------------------------------------------- */

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

/* Sequences of any length (shape[1] = 0), whose indices count from the begin of the array; rows;
 * and columns: many, few, and of one element. */
Test(library_indexed, each_type_size_and_shape_slow)
{
    enum { MOST = 70003 };
    static const size_t shapes[][2] = {{0, 0},   {1, 0},   {31, 0}, {1024, 0}, {4097, 0},
                                       {MOST, 0}, {300, 7}, {7, 300}, {1, 40},  {40, 1},
                                       {3, 6000}, {6000, 3}};
    static uint32_t bits[(MOST + 31) / 32], *heads;
    static bool head[MOST];
    for (size_t i = 0; i < MOST; i++)
        if ((head[i] = random_bits() % 60 == 0)) bits[i / 32] |= 1u << i % 32;
    heads = device_memory(sizeof bits);
    ok(cudaMemcpy(heads, bits, sizeof bits, cudaMemcpyHostToDevice));
    for (size_t k = 0; k < function_count; k++)
        for (size_t s = 0; is_indexed(&functions[k]) && s < LENGTH(shapes); s++)
            for (int flags = 0; flags < (shapes[s][0] == MOST ? 1 : 4); flags++) {
                size_t length = shapes[s][1], n = shapes[s][0] * (length ? length : 1);
                struct upsweep_scan_options o = {.inclusive = !(flags & 1), .reverse = flags & 2};
                o.row = length;
                index_and_expect(&functions[k], n, &o, NULL);
                o.row = 0, o.columns = length;
                if (!length) o.kind = UPSWEEP_HEADS_BITS, o.heads = heads;
                index_and_expect(&functions[k], n, &o, length ? NULL : head);
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
