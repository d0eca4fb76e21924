/*
 * test_library_scan.c — the library's scans against a loop: each operator and type, and each
 * option; argmax and argmin with equal elements, -0, NaN and infinities.
 */
#include "tests/unit/library/calls.h"
#include "tests/support/cudart_check.h"

#include <math.h>
#include <stdlib.h>

TestSuite(library_scan, .timeout = 300);

/* ---- the reference --------------------------------------------------------------------------- */

/* A number of any type: floats in `real`, all others in `word`, modulo 2^64. */
struct number {
    double real;
    uint64_t word;
};

static bool is_real(enum type type) { return type == F32 || type == F64; }

static struct number read_number(enum type type, const void *array, size_t i)
{
    struct number x = {0, 0};
    switch (type) {
    case I8: x.word = (uint64_t)((const int8_t *)array)[i]; break;
    case I16: x.word = (uint64_t)((const int16_t *)array)[i]; break;
    case I32: x.word = (uint64_t)((const int32_t *)array)[i]; break;
    case U32: x.word = ((const uint32_t *)array)[i]; break;
    case F32: x.real = ((const float *)array)[i]; break;
    case F64: x.real = ((const double *)array)[i]; break;
    default: x.word = ((const uint64_t *)array)[i];
    }
    return x;
}

static void write_number(enum type type, void *array, size_t i, int value)
{
    switch (type) {
    case I8: ((int8_t *)array)[i] = (int8_t)value; break;
    case I16: ((int16_t *)array)[i] = (int16_t)value; break;
    case I32: ((int32_t *)array)[i] = value; break;
    case U32: ((uint32_t *)array)[i] = (uint32_t)value; break;
    case F32: ((float *)array)[i] = (float)value; break;
    case F64: ((double *)array)[i] = value; break;
    default: ((int64_t *)array)[i] = value;
    }
}

static struct number identity_of(const struct function *f)
{
    struct number x = {0, 0};
    bool narrow = f->out == I32;
    switch (f->operation) {
    case PRODUCT: x.real = 1, x.word = 1; break;
    case MAX: x.real = -INFINITY, x.word = (uint64_t)(narrow ? INT32_MIN : INT64_MIN); break;
    case MIN: x.real = INFINITY, x.word = (uint64_t)(narrow ? INT32_MAX : INT64_MAX); break;
    case LOGSUMEXP: x.real = -INFINITY; break;
    default: break;
    }
    return x;
}

static struct number combine(enum operation operation, struct number h, struct number x,
                             struct number y)
{
    switch (operation) {
    case SUM: h.real += x.real, h.word += x.word; break;
    case PRODUCT: h.real *= x.real, h.word *= x.word; break;
    case MAX:
        h.real = fmax(h.real, x.real);
        if ((int64_t)x.word > (int64_t)h.word) h.word = x.word;
        break;
    case MIN:
        h.real = fmin(h.real, x.real);
        if ((int64_t)x.word < (int64_t)h.word) h.word = x.word;
        break;
    case XOR: h.word ^= x.word; break;
    case LOGSUMEXP: {
        double most = fmax(h.real, x.real);
        h.real = most + log(exp(h.real - most) + exp(x.real - most));
        break;
    }
    case AFFINE: h.real = x.real * h.real + y.real; break;
    default: h.real = KEEP * h.real + TAKE * x.real;
    }
    return h;
}

/* The sequence of each element. */
static size_t *sequences(size_t n, const struct upsweep_scan_options *o, const bool *head)
{
    size_t *id = malloc((n + 1) * sizeof *id), count = 0;
    for (size_t i = 0; i < n; i++) {
        if (o->columns) {
            id[i] = i % o->columns;
            continue;
        }
        if (i > 0 && (o->row ? i % o->row == 0 : o->kind && head[i])) count++;
        id[i] = count;
    }
    return id;
}

static bool is_near(const struct function *f, struct number got, struct number want)
{
    if (is_real(f->out)) {
        double most = f->out == F32 ? 2e-5 : 1e-11;
        return got.real == want.real ||
               fabs(got.real - want.real) <= most * fmax(1, fabs(want.real));
    }
    unsigned bits = (unsigned)(8 * type_bytes[f->out]);
    uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    return (got.word & mask) == (want.word & mask);
}

static void expect_scan(const struct function *f, const void *out, const void *in, const void *b,
                        size_t n, const struct upsweep_scan_options *o, const bool *head)
{
    struct number *state = malloc((n + 1) * sizeof *state), none = {0, 0};
    size_t *id = sequences(n, o, head);
    struct number first = o->initial ? read_number(f->out, o->initial, 0) : identity_of(f);
    for (size_t i = 0; i < n; i++) state[i] = first;
    for (size_t k = 0; k < n; k++) {
        size_t i = o->reverse ? n - 1 - k : k;
        struct number *h = &state[id[i]], before = *h, x = read_number(f->in, in, i);
        *h = combine(f->operation, before, x, b ? read_number(f->in, b, i) : none);
        struct number want = o->inclusive ? *h : before, got = read_number(f->out, out, i);
        cr_assert(is_near(f, got, want),
                  "%s, n = %zu, element %zu: %.17g or %llx, not %.17g or %llx", f->name, n, i,
                  got.real, (unsigned long long)got.word, want.real, (unsigned long long)want.word);
    }
    free(state), free(id);
}

/* ---- input ----------------------------------------------------------------------------------- */

/* Numbers whose results are exact, or nearly so. */
static void *input_for(const struct function *f, size_t n)
{
    void *in = malloc((n + 1) * type_bytes[f->in]);
    for (size_t i = 0; i < n; i++) {
        int x = (int)(random_bits() % 7) - 3;
        if (f->operation == PRODUCT) x = random_bits() % 2 ? 1 : -1;
        if (f->operation == PRODUCT && !is_real(f->in)) x *= 3;
        if (f->operation == MAX || f->operation == MIN) x *= (int)(i % 100000) + 1;
        write_number(f->in, in, i, x);
        if (f->operation == AFFINE && f->in == F32) ((float *)in)[i] = (float)x / 4;
        if (f->operation == AFFINE && f->in == F64) ((double *)in)[i] = (double)x / 4;
    }
    return in;
}

static void scan_and_expect(const struct function *f, size_t n,
                            const struct upsweep_scan_options *o, const bool *head)
{
    struct arguments a = {.n = n, .scan = o};
    void *in = input_for(f, n), *b = f->operation == AFFINE ? input_for(f, n) : NULL;
    void *out = malloc((n + 1) * type_bytes[f->out]);
    call_once(f, &a, in, b, n * type_bytes[f->in], out, NULL);
    expect_scan(f, out, in, b, n, o, head);
    free(in), free(b), free(out);
}

/* ---- tests ----------------------------------------------------------------------------------- */

Test(library_scan, each_operator_type_and_size_slow)
{
    static const size_t sizes[] = {0, 1, 31, 1024, 4097, 100003};
    for (size_t k = 0; k < function_count && functions[k].operation <= DECAY; k++)
        for (size_t s = 0; s < LENGTH(sizes); s++) {
            struct upsweep_scan_options o = {.inclusive = s % 2};
            scan_and_expect(&functions[k], sizes[s], &o, NULL);
            o.inclusive = !o.inclusive;
            if (sizes[s] <= 4097) scan_and_expect(&functions[k], sizes[s], &o, NULL);
        }
}

static bool takes_heads(const struct function *f)
{
    return (f->operation == SUM || f->operation == MAX) && f->in != I8 && f->in != I16;
}

/* All kinds of sequences, forwards and backwards, with and without an initial value. */
Test(library_scan, each_option_slow)
{
    const size_t n = 17 * 241;
    static uint8_t bytes[17 * 241];
    static uint32_t bits[(17 * 241 + 31) / 32];
    static int32_t keys[17 * 241];
    static int64_t offsets[17 * 241 + 2];
    static bool head[17 * 241];
    size_t count = 0;
    offsets[count++] = -5;
    for (size_t i = 0; i < n; i++) {
        head[i] = random_bits() % 50 == 0;
        bytes[i] = head[i] ? (uint8_t)(1 + random_bits() % 255) : 0;
        if (head[i]) bits[i / 32] |= 1u << i % 32;
        keys[i] = (i > 0 ? keys[i - 1] : 7) + head[i];
        if (head[i]) offsets[count++] = (int64_t)i;
    }
    offsets[count++] = (int64_t)n;
    const void *arrays[] = {NULL, bytes, bits, keys, offsets};
    const size_t sizes[] = {0, sizeof bytes, sizeof bits, sizeof keys, sizeof offsets};
    void *heads[5];
    for (int kind = 1; kind < 5; kind++) {
        heads[kind] = device_memory(sizes[kind]);
        ok(cudaMemcpy(heads[kind], arrays[kind], sizes[kind], cudaMemcpyHostToDevice));
    }
    for (size_t k = 0; k < function_count && functions[k].operation <= DECAY; k++) {
        const struct function *f = &functions[k];
        if (f->in == I8 || f->in == I16) continue;
        struct number none;
        write_number(f->out, &none, 0, 1);
        for (int shape = 0; shape < 7; shape++)
            for (int flags = 0; flags < 4; flags++) {
                struct upsweep_scan_options o = {.inclusive = flags % 2, .reverse = flags / 2 % 2};
                if (flags < 2 || shape == 3) o.initial = &none;
                if (shape == 0 && flags == 1) o.initial = NULL, o.reverse = true;
                if (shape >= 1 && shape <= 4) o.kind = (enum upsweep_heads)shape;
                if (o.kind) o.heads = heads[o.kind];
                if (o.kind == UPSWEEP_HEADS_OFFSETS) o.count = count;
                if (shape == 5) o.row = 241;
                if (shape == 6) o.columns = 17;
                if ((o.kind == UPSWEEP_HEADS_BYTES || o.kind == UPSWEEP_HEADS_KEYS) &&
                    !takes_heads(f)) {
                    size_t needed = 0;
                    struct arguments a = {.n = n, .scan = &o, .bytes = &needed};
                    is(f->call(&a), cudaErrorNotSupported);
                    continue;
                }
                scan_and_expect(f, n, &o, head);
            }
    }
    for (int kind = 1; kind < 5; kind++) ok(cudaFree(heads[kind]));
}

/* Sums of short integers have no other kernels than those of step 12. */
Test(library_scan, short_sums_have_no_options_slow)
{
    struct upsweep_scan_options o[] = {{.reverse = true},
                                       {.row = 1},
                                       {.columns = 1},
                                       {.kind = UPSWEEP_HEADS_BITS},
                                       {.initial = &o}};
    size_t bytes = 0;
    for (size_t k = 0; k < function_count && functions[k].operation <= DECAY; k++)
        for (size_t i = 0; i < LENGTH(o) && type_bytes[functions[k].in] < 4; i++) {
            struct arguments a = {.n = 5, .scan = &o[i], .bytes = &bytes};
            is(functions[k].call(&a), cudaErrorNotSupported);
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
