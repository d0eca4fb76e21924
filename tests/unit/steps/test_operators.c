/*
 * test_operators.c — what step 16's scan.h promises: each operator, type, shape and direction has
 * the results of a loop on the CPU, in every bit where the operator does not round these numbers;
 * special values; workspaces that are used again; and the calls that it refuses. Then the judge of
 * ./step16, and scan_check_operator, which finds nothing in the operators of the library and prints
 * a counterexample for operators that are not associative or have a wrong identity.
 */
#define _GNU_SOURCE
#include "tests/support/cudart_check.h"
#include "common/harness/verify/verify.h"
#include "steps/16-operators/request.h"
#include "common/tools/library/scan/shape.h"
#include "tests/cases/fixtures/fixtures.h"
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

TestSuite(operators, .timeout = 300);

/* ---- numbers --------------------------------------------------------------------------------- */

static void put(const struct scan_function *s, void *to, size_t i, double x)
{
    if (s->in == 4)
        ((float *)to)[i] = (float)x;
    else
        ((double *)to)[i] = x;
}

static bool is_called(const struct scan_function *s, const char *operator)
{
    return strncmp(s->name, operator, strlen(operator)) == 0;
}

/* A real number from random bits, so that no combination of neighbours rounds where the operator is
 * a sum or a product: whole numbers, 2 and 1/2 in turn, and a = 1 or -1. */
static double real_number(const struct scan_function *s, bool second, size_t i, uint64_t bits)
{
    double sign = bits & 1 ? 1 : -1, whole = (double)(int64_t)(bits % 17) - 8;
    if (is_called(s, "product")) return i % 64 == 7 ? 2 * sign : i % 64 == 39 ? sign / 2 : sign;
    if (is_called(s, "affine")) return second ? whole : sign;
    return is_called(s, "sum") ? whole : (double)(int64_t)bits * 0x1p-63;
}

/* Integers of random bits, brackets, or real numbers. */
static void *random_input(const struct scan_function *s, size_t n, bool second)
{
    static const char text[] = "(){}[]((ab ";
    unsigned char *data = malloc(n * s->in + 8);
    cr_assert(data != NULL);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = random_bits();
        if (s->in == 1)
            data[i] = (unsigned char)text[bits % (sizeof text - 1)];
        else if (s->real)
            put(s, data, i, real_number(s, second, i, bits));
        else
            memcpy(data + i * s->in, &bits, s->in);
    }
    return data;
}

/* ---- one scan -------------------------------------------------------------------------------- */

enum shape { ONE, ROWS, COLUMNS, BYTES, BITS, KEYS, OFFSETS, SHAPES };

struct job {
    const struct scan_function *op;
    size_t n;
    enum shape shape;
    size_t length; /* of rows and columns; about that of sequences with heads */
    bool inclusive, reverse, initial;
    int displaced; /* in elements, of all arrays */
    bool in_place;
};
#define JOB_FORMAT "%s, n = %zu, shape %d of %zu, inclusive %d, reverse %d, initial %d: "
#define JOB_ARGS(j)                                                                                \
    (j)->op->name, (j)->n, (j)->shape, (j)->length, (j)->inclusive, (j)->reverse, (j)->initial

static bool is_sight(const struct scan_function *s) { return strcmp(s->name, "sight_f32") == 0; }

/* Is there such a scan? */
static bool exists(const struct job *j)
{
    if (is_sight(j->op) && (j->inclusive || j->initial)) return false;
    return j->op->all_heads || (j->shape != BYTES && j->shape != KEYS);
}

/* An array of heads on the host: about one element in j->length begins a sequence. Of offsets, one
 * is twice there, and some are out of range. */
struct heads {
    void *data;
    size_t count, bytes;
};

static struct heads random_heads(const struct job *j)
{
    size_t n = j->n, next = 0, length = j->length ? j->length : 1;
    struct heads h = {.data = calloc(n + 8, 8)};
    cr_assert(h.data != NULL);
    int64_t *offsets = h.data;
    if (j->shape == OFFSETS) {
        const int64_t others[] = {-1, INT64_MIN, (int64_t)n, (int64_t)n + 5, INT64_MAX, 0, 0};
        for (size_t i = 0; i < LENGTH(others); i++) offsets[next++] = others[i];
    }
    int32_t key = (int32_t)random_bits();
    for (size_t i = 0; i < n; i++) {
        bool begins = random_bits() % length == 0;
        key = (int32_t)((uint32_t)key + begins);
        if (j->shape == BYTES) ((uint8_t *)h.data)[i] = (uint8_t)(begins ? 1 + i % 255 : 0);
        if (j->shape == BITS) ((uint32_t *)h.data)[i / 32] |= (uint32_t)begins << i % 32;
        if (j->shape == KEYS) ((int32_t *)h.data)[i] = key;
        if (j->shape == OFFSETS && begins) offsets[next++] = (int64_t)i;
    }
    static const size_t sizes[SHAPES] = {[BYTES] = 1, [BITS] = 4, [KEYS] = 4, [OFFSETS] = 8};
    h.count = j->shape == OFFSETS ? next : j->shape == BITS ? (n + 31) / 32 : n;
    h.bytes = h.count * sizes[j->shape];
    return h;
}

static struct upsweep_scan_options options_of(const struct job *j, const struct heads *h,
                                      const void *initial)
{
    static const enum upsweep_heads kinds[SHAPES] = {[BYTES] = UPSWEEP_HEADS_BYTES,
                                                  [BITS] = UPSWEEP_HEADS_BITS,
                                                  [KEYS] = UPSWEEP_HEADS_KEYS,
                                                  [OFFSETS] = UPSWEEP_HEADS_OFFSETS};
    return (struct upsweep_scan_options){.inclusive = j->inclusive,
                                 .reverse = j->reverse,
                                 .row = j->shape == ROWS ? j->length : 0,
                                 .columns = j->shape == COLUMNS ? j->length : 0,
                                 .kind = kinds[j->shape],
                                 .heads = h->data,
                                 .count = j->shape == OFFSETS ? h->count : 0,
                                 .initial = j->initial ? initial : NULL};
}

static double real_at(const struct scan_function *s, const void *from, size_t i)
{
    return s->out == 4 ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

/* Equal in every bit; a NaN is as good as another one. logsumexp and decay round. */
static bool agree(const struct scan_function *s, const void *got, const void *want, size_t i)
{
    if (memcmp((const char *)got + i * s->out, (const char *)want + i * s->out, s->out) == 0)
        return true;
    if (!s->real || is_sight(s)) return false;
    double g = real_at(s, got, i), w = real_at(s, want, i);
    if (isnan(g) && isnan(w)) return true;
    if (!is_called(s, "logsumexp") && !is_called(s, "decay")) return false;
    return fabs(g - w) <= (s->out == 4 ? 0x1p-18 : 0x1p-47) * (1 + fabs(w));
}

static void compare(const struct job *j, const void *got, const void *want)
{
    for (size_t i = 0; i < j->n; i++) {
        uint64_t g = 0, w = 0;
        if (agree(j->op, got, want, i)) continue;
        memcpy(&g, (const char *)got + i * j->op->out, j->op->out);
        memcpy(&w, (const char *)want + i * j->op->out, j->op->out);
        cr_assert(false, JOB_FORMAT "element %zu is %llx, not %llx", JOB_ARGS(j), i,
                  (unsigned long long)g, (unsigned long long)w);
    }
}

static cudaError_t call(const struct scan_function *s, void *workspace, size_t *bytes, void *out,
                        const void *in, const void *in2, size_t n,
                        const struct upsweep_scan_options *o)
{
    return s->call(&(struct scan_call){workspace, bytes, out, in, in2, n, REFERENCE_KEEP,
                                       REFERENCE_TAKE, REFERENCE_EYE, o, NULL});
}

static size_t many_from(const struct scan_function *s)
{
    return scan_many_from(s->in > s->out ? s->in : s->out);
}

/* A workspace for several scans; { NULL } makes one for a single scan. */
struct workspace {
    void *memory;
    size_t bytes;
};

static size_t workspace_bytes(const struct job *j, const struct upsweep_scan_options *o)
{
    size_t bytes = 0;
    ok(call(j->op, NULL, &bytes, NULL, NULL, NULL, j->n, o));
    return bytes;
}

static void scan_with(const struct job *j, struct workspace w, const struct upsweep_scan_options *o,
                      struct guarded *out, const struct guarded *in, const struct guarded *in2)
{
    size_t bytes = w.memory ? w.bytes : workspace_bytes(j, o);
    struct guarded own = {0};
    if (!w.memory) {
        own = guarded(NULL, bytes, 0);
        w.memory = own.data;
        ok(scan_operators_init(w.memory, bytes, NULL));
    }
    cudaError_t error =
        call(j->op, w.memory, &bytes, out->data, in->data, in2->data, j->n, o);
    cr_assert(!error, JOB_FORMAT "%s", JOB_ARGS(j), cudaGetErrorName(error));
    ok(cudaDeviceSynchronize());
    if (own.base) release(&own, NULL, "the workspace");
}

/* Scans on the device, and compares each result with the reference. */
static void expect_scan_in(const struct job *j, struct workspace w)
{
    const struct scan_function *s = j->op;
    if (!exists(j)) return;
    size_t d = (size_t)j->displaced;
    void *in = random_input(s, j->n, false), *in2 = random_input(s, j->n, true);
    void *got = malloc(j->n * 8 + 8), *want = malloc(j->n * 8 + 8);
    struct heads h = {0};
    if (j->shape >= BYTES) h = random_heads(j);
    uint64_t initial = 3;
    if (s->real) put(s, &initial, 0, 2);
    struct upsweep_scan_options o = options_of(j, &h, &initial);
    scan_refer(s->name, want, in, in2, j->n, &o);

    struct guarded first = guarded(in, j->n * s->in, d * s->in);
    struct guarded second = guarded(in2, j->n * s->second, d * s->second);
    struct guarded heads = guarded(h.data, h.bytes, d * (h.count ? h.bytes / h.count : 0));
    struct guarded out = j->in_place ? first : guarded(NULL, j->n * s->out, d * s->out);
    if (h.data) o.heads = heads.data;
    scan_with(j, w, &o, &out, &first, &second);
    ok(cudaMemcpy(got, out.data, j->n * s->out, cudaMemcpyDeviceToHost));
    compare(j, got, want);
    release(&heads, h.data, "the array of heads");
    release(&second, in2, "the second input");
    if (!j->in_place) release(&first, in, "the input");
    release(&out, NULL, "the output");
    void *const memory[] = {in, in2, want, got, h.data};
    for (size_t i = 0; i < LENGTH(memory); i++) free(memory[i]);
}

static void expect_scan(struct job j) { expect_scan_in(&j, (struct workspace){0}); }

static const struct scan_function *find(const char *name)
{
    const struct scan_function *s = scan_functions;
    while (s->name && strcmp(s->name, name) != 0) s++;
    cr_assert(s->name, "%s is no scan", name);
    return s;
}

/* ---- right ----------------------------------------------------------------------------------- */

/* Five tiles of 2048 elements of 4 bytes, or ten of 1024 of 8. */
Test(operators, each_operator_shape_and_direction_slow)
{
    for (const struct scan_function *s = scan_functions; s->name; s++)
        for (int i = 0; i < SHAPES * 8; i++)
            expect_scan((struct job){.op = s,
                                     .n = 10080,
                                     .shape = (enum shape)(i % SHAPES),
                                     .length = 35,
                                     .inclusive = i / SHAPES & 1,
                                     .reverse = i / SHAPES & 2,
                                     .initial = i / SHAPES & 4});
}

/* Around lanes, rows, segments and tiles, without and with heads. */
Test(operators, sizes_slow)
{
    static const size_t sizes[] = {1,    2,    3,    4,    31,   32,   33,   127,  128,
                                   129,  255,  256,  257,  511,  512,  1023, 1024, 1025,
                                   2047, 2048, 2049, 4095, 4097, 8191, 8192, 8193, 10007};
    static const char *const names[] = {"sum_f32", "max_f64", "affine_f64", "brackets"};
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (size_t k = 0; k < LENGTH(names); k++)
            for (int more = 0; more < 4; more++)
                expect_scan((struct job){.op = find(names[k]),
                                         .n = sizes[i],
                                         .shape = more & 1 ? BITS : ONE,
                                         .length = 1 + sizes[i] / 4,
                                         .inclusive = i & 1,
                                         .reverse = more & 2});
}

/* Rows and columns of 1 to n elements; 2520 has many divisors. */
Test(operators, lengths_of_rows_and_columns_slow)
{
    enum { N = 2 * 2520 };
    static const char *const names[] = {"sum_f32", "max_i64", "decay_f32"};
    for (size_t length = 1; length <= N; length++)
        for (int more = 0; more < 4 && N % length == 0; more++)
            expect_scan((struct job){.op = find(names[length % LENGTH(names)]),
                                     .n = N,
                                     .shape = more & 1 ? COLUMNS : ROWS,
                                     .length = length,
                                     .inclusive = length & 1,
                                     .reverse = more & 2,
                                     .initial = length & 2});
}

/* Tiles of short rows have whole ones, those of longer ones are parts of one row; and they have
 * places for all of their elements. */
Test(operators, tilings_of_rows_slow)
{
    for (size_t widest = 4; widest <= 16; widest *= 2)
        for (size_t row = 1; row <= PARTS_MOST * (TILE_WITH(MANY_ROWS, widest) - 32); row++) {
            struct tiling t = tiling_of(100 * row, row, widest);
            size_t line = LINE_TAKES(widest), places = (size_t)(t.segments * t.rows) * ROW(widest);
            size_t parts = t.tiles / 100, begin = t.kind == TILES_APART ? t.tile : row;
            cr_assert(t.tiles * t.tile >= 100 * row && t.segments <= APART_MOST);
            cr_assert(t.tile + (begin % line ? line - 1 : 0) <= places, "%zu %zu", row, widest);
            if (row <= TILE_WITH(MANY_ROWS, widest)) {
                cr_assert(t.kind == TILES_APART && t.tile % row == 0, "%zu %zu", row, widest);
                continue;
            }
            cr_assert(t.kind == TILES_OF_ROW && places <= TILE_WITH(MANY_ROWS, widest));
            cr_assert(t.tile % line == 0 && parts <= PARTS_MOST, "%zu %zu", row, widest);
            cr_assert(t.tiles == 100 * parts, "%zu %zu", row, widest);
            cr_assert((parts - 1) * t.tile < row && row <= parts * t.tile, "%zu %zu", row, widest);
        }
}

/* In a block of scan_wave each window has a warp, besides the first warp. */
Test(operators, tilings_of_few_slow)
{
    for (size_t widest = 4; widest <= 16; widest *= 2)
        for (size_t n = 1; n < many_from(find("sum_f32")) + 5000; n += 509) {
            struct tiling t = tiling_of(n, 0, widest);
            cr_assert(t.tiles * t.tile >= n && t.tiles <= states_needed(n, widest));
            if (t.kind != TILES_OF_WAVE) continue;
            cr_assert(t.tiles <= WAVE_TILES && t.segments <= WAVE_COARSE);
            cr_assert(t.tiles == 1 || (t.tiles - 2) / LANES < (size_t)t.segments - 1);
        }
}

/* Rows around those that a tile of scan_rows takes whole: their tiles begin with a line, with a
 * vector, or anywhere. Of longer ones, tiles are parts; before Hopper one block takes them all. */
static void expect_lengths_of_many_rows(void)
{
    static const size_t lengths[] = {1,    3,    7,    31,   33,   100,  255,  257,
                                     1000, 1001, 1002, 2047, 2049, 4095, 4097, 5001,
                                     8161, 8190, 8191, 8192, 8193, 8196,
                                     12345, 20000, 65535, 65536, 65537};
    static const char *const names[] = {"sum_f32", "max_f64", "affine_f32", "brackets"};
    for (size_t i = 0; i < LENGTH(lengths); i++)
        for (int more = 0; more < 4; more++)
            expect_scan((struct job){.op = find(names[(i + (size_t)more) % LENGTH(names)]),
                                     .n = (20000 / lengths[i] + 1) * lengths[i],
                                     .shape = ROWS,
                                     .length = lengths[i],
                                     .inclusive = i & 1,
                                     .reverse = more & 1,
                                     .initial = i & 2,
                                     .displaced = more == 3});
    for (size_t length = 8189; length <= 8195; length += 2)
        expect_scan((struct job){.op = find("sum_f32"),
                                 .n = 130 * length,
                                 .shape = ROWS,
                                 .length = length,
                                 .reverse = length & 2});
}

Test(operators, lengths_of_many_rows_slow) { expect_lengths_of_many_rows(); }

Test(operators, lengths_of_many_rows_before_hopper_slow)
{
    setenv("EMU_GPU", "a100", 1);
    expect_lengths_of_many_rows();
}

/* Two columns are scanned as pairs: several tiles of each kernel, and memory of any alignment. */
Test(operators, two_columns_slow)
{
    static const char *const names[] = {"sum_f32", "sum_f64", "logsumexp_f32", "decay_f32",
                                        "affine_f32", "affine_f64"};
    static const size_t sizes[] = {2, 6, 1000, 40002, 600002};
    for (size_t k = 0; k < LENGTH(names); k++)
        for (size_t i = 0; i < LENGTH(sizes); i++)
            for (int more = 0; more < 4; more++)
                expect_scan((struct job){.op = find(names[k]),
                                         .n = sizes[i],
                                         .shape = COLUMNS,
                                         .length = 2,
                                         .inclusive = more & 1,
                                         .reverse = more & 2,
                                         .initial = (i + k) & 1,
                                         .displaced = more == 3,
                                         .in_place = more == 0});
}

/* Sequences of 1 element, of some tiles, and one that is as long as the array. */
Test(operators, lengths_of_sequences_slow)
{
    static const size_t lengths[] = {1, 2, 5, 30, 300, 3000, 1000000};
    for (size_t i = 0; i < LENGTH(lengths); i++)
        for (int shape = BYTES; shape <= OFFSETS; shape++)
            for (int reverse = 0; reverse < 2; reverse++)
                expect_scan((struct job){.op = find(i & 1 ? "sum_f32" : "max_f64"),
                                         .n = 20011,
                                         .shape = (enum shape)shape,
                                         .length = lengths[i],
                                         .inclusive = i & 2,
                                         .reverse = reverse});
}

/* scan_wave: two windows of 32 tiles, for each operator. */
Test(operators, two_windows_slow)
{
    int i = 0;
    for (const struct scan_function *s = scan_functions; s->name; s++)
        for (int shape = 0; shape < SHAPES; shape++, i++) {
            if (shape != ONE && shape != i % SHAPES && shape != BITS) continue;
            size_t n = (s->out == 8 ? 128 * 1024 : 128 * 2048) + 1 + (size_t)i;
            expect_scan((struct job){.op = s,
                                     .n = n / 60 * 60 + 60,
                                     .shape = (enum shape)shape,
                                     .length = 60,
                                     .inclusive = i & 1,
                                     .reverse = i & 2});
        }
}

/* The most tiles of scan_wave are four windows. */
Test(operators, four_windows_slow)
{
    static const char *const names[] = {"sum_f32", "affine_f64"};
    for (int i = 0; i < 4; i++) {
        const struct scan_function *s = find(names[i / 2]);
        expect_scan((struct job){.op = s,
                                 .n = many_from(s) - 1,
                                 .shape = i & 1 ? BITS : ONE,
                                 .length = 400000,
                                 .inclusive = true,
                                 .reverse = i & 1});
    }
}

/* A window has 128 tiles; of columns, 32 tiles of 64 rows or more. */
Test(operators, many_windows_slow)
{
    struct job j = {.op = find("affine_f64"), .n = 1350000, .inclusive = true};
    expect_scan(j);
    j.reverse = true, j.shape = BITS, j.length = 700000;
    expect_scan(j);
    for (int i = 0; i < 4; i++) {
        j = (struct job){.op = find("affine_f64"),
                         .n = 300000,
                         .shape = COLUMNS,
                         .length = 25,
                         .inclusive = i & 1,
                         .reverse = i & 2};
        expect_scan(j);
        j.op = find("product_f32"), j.length = 60, j.initial = true;
        expect_scan(j);
    }
}

/* Every kernel for many tiles: with each kind of heads in each direction. One test for each eighth
 * of the operators, so that they run side by side. */
static void expect_pipelines(int part)
{
    int i = 0;
    for (const struct scan_function *s = scan_functions; s->name; s++)
        for (int shape = 0; shape < SHAPES && (s - scan_functions) % 8 == part; shape++)
            for (int reverse = 0; reverse < 2; reverse++, i++) {
                if (shape == COLUMNS || shape == OFFSETS) continue;
                size_t n = many_from(s) + 1000 + (size_t)i;
                expect_scan((struct job){.op = s,
                                         .n = shape == ROWS ? n / 7 * 7 : n,
                                         .shape = (enum shape)shape,
                                         .length = shape == ROWS ? n / 7 : 5000,
                                         .inclusive = i & 1 && !is_sight(s),
                                         .reverse = reverse,
                                         .initial = i & 2 && !is_sight(s)});
            }
}
Test(operators, pipelines_0_slow) { expect_pipelines(0); }
Test(operators, pipelines_1_slow) { expect_pipelines(1); }
Test(operators, pipelines_2_slow) { expect_pipelines(2); }
Test(operators, pipelines_3_slow) { expect_pipelines(3); }
Test(operators, pipelines_4_slow) { expect_pipelines(4); }
Test(operators, pipelines_5_slow) { expect_pipelines(5); }
Test(operators, pipelines_6_slow) { expect_pipelines(6); }
Test(operators, pipelines_7_slow) { expect_pipelines(7); }

/* Arrays that are aligned to one element only: few tiles, and many. */
Test(operators, arrays_at_odd_addresses_slow)
{
    for (const struct scan_function *s = scan_functions; s->name; s++)
        for (int shape = 0; shape < SHAPES; shape++)
            expect_scan((struct job){.op = s,
                                     .n = 10500,
                                     .shape = (enum shape)shape,
                                     .length = 42,
                                     .reverse = shape & 1,
                                     .displaced = 1 + shape % 3});
    static const char *const names[] = {"max_f64", "affine_f64"};
    for (size_t k = 0; k < LENGTH(names); k++)
        for (int i = 0; i < 6; i++) {
            static const enum shape shapes[] = {ONE, BITS, ROWS};
            const struct scan_function *s = find(names[k]);
            size_t n = (many_from(s) + 77) / 8 * 8;
            expect_scan((struct job){.op = s,
                                     .n = n,
                                     .shape = shapes[i / 2],
                                     .length = shapes[i / 2] == ROWS ? n / 8 : 700,
                                     .reverse = i & 1,
                                     .displaced = 1});
        }
}

Test(operators, in_place_slow)
{
    for (const struct scan_function *s = scan_functions; s->name; s++)
        for (int i = 0; i < SHAPES * 2 && s->in == s->out; i++)
            expect_scan((struct job){.op = s,
                                     .n = 12600,
                                     .shape = (enum shape)(i % SHAPES),
                                     .length = 63,
                                     .inclusive = i & 1,
                                     .reverse = i / SHAPES,
                                     .in_place = true});
    const struct scan_function *s = find("sum_f64");
    for (int reverse = 0; reverse < 2; reverse++)
        expect_scan(
            (struct job){.op = s, .n = many_from(s), .reverse = reverse, .in_place = true});
}

/* The bits of offsets stand where a scan of more elements has states. In each state these would be
 * a sum that a tile published in the next scan of the workspace, whose epoch is 4. */
Test(operators, bits_of_offsets_are_no_states_slow)
{
    enum { EACH = 64, OF_EPOCH_4 = 34 };
    const struct scan_function *s = find("sum_f32");
    size_t few = many_from(s), many = 4 * few, count = few / EACH;
    int64_t *offsets = malloc(count * sizeof *offsets);
    cr_assert(offsets);
    for (size_t i = 0; i < count; i++) offsets[i] = (int64_t)(EACH * i + OF_EPOCH_4);
    void *heads = device_memory(count * sizeof *offsets), *in = device_memory(few * s->in),
         *out = device_memory(few * s->out);
    ok(cudaMemcpy(heads, offsets, count * sizeof *offsets, cudaMemcpyHostToDevice));
    ok(cudaMemset(in, 0, few * s->in));
    struct job first = {.op = s, .n = few}, second = {.op = s, .n = many};
    struct upsweep_scan_options o = {.kind = UPSWEEP_HEADS_OFFSETS, .heads = heads, .count = count};
    struct workspace w = {.bytes = workspace_bytes(&first, &o)};
    cr_assert(workspace_bytes(&second, NULL) < w.bytes);
    w.memory = device_memory(w.bytes);
    ok(scan_operators_init(w.memory, w.bytes, NULL));
    ok(call(s, w.memory, &w.bytes, out, in, NULL, few, &o));
    expect_scan_in(&second, w);
    ok(cudaFree(heads)), ok(cudaFree(in)), ok(cudaFree(out)), ok(cudaFree(w.memory));
    free(offsets);
}

/* ---- results that are written down here ------------------------------------------------------ */

/* Scans `n` elements, and compares with `want` in every bit (but that of a NaN). */
static void expect_results(const char *name, const void *in, const void *in2, size_t n,
                           const struct upsweep_scan_options *o, const void *want)
{
    struct job j = {.op = find(name), .n = n};
    struct guarded first = guarded(in, n * j.op->in, 0), out = guarded(NULL, n * j.op->out, 0);
    struct guarded second = guarded(in2, in2 ? n * j.op->second : 0, 0);
    uint64_t got[64];
    cr_assert(n * j.op->out <= sizeof got);
    static const struct upsweep_scan_options none;
    scan_with(&j, (struct workspace){0}, o ? o : &none, &out, &first, &second);
    ok(cudaMemcpy(got, out.data, n * j.op->out, cudaMemcpyDeviceToHost));
    compare(&j, got, want);
    release(&first, in, "the input");
    release(&second, in2, "the second input");
    release(&out, NULL, "the output");
}
#define EXPECT(name, result, o, in, ...)                                                           \
    expect_results(name, in, NULL, LENGTH(in), o, (const result[]){__VA_ARGS__})

static const struct upsweep_scan_options inclusive = {.inclusive = true},
                                 backwards = {.inclusive = true, .reverse = true};

Test(operators, special_floats_slow)
{
    const float x[] = {1, -INFINITY, NAN, 5, INFINITY}, zeros[] = {-0.0f, 0.0f, -0.0f};
    EXPECT("max_f32", float, &inclusive, x, 1, 1, NAN, NAN, NAN);
    EXPECT("max_f32", float, NULL, x, -INFINITY, 1, 1, NAN, NAN);
    EXPECT("max_f32", float, &backwards, x, NAN, NAN, NAN, INFINITY, INFINITY);
    EXPECT("min_f32", float, &inclusive, x, 1, -INFINITY, NAN, NAN, NAN);
    EXPECT("max_f32", float, &inclusive, zeros, -0.0f, 0.0f, -0.0f);
    EXPECT("min_f32", float, &backwards, zeros, -0.0f, 0.0f, -0.0f);
    const float infinite[] = {1, INFINITY, 2, -INFINITY, 3};
    EXPECT("sum_f32", float, &inclusive, infinite, 1, INFINITY, INFINITY, NAN, NAN);
    const double huge[] = {-INFINITY, 1000, -INFINITY, INFINITY, NAN};
    EXPECT("logsumexp_f64", double, NULL, huge, -INFINITY, -INFINITY, 1000, 1000, INFINITY);
    EXPECT("logsumexp_f64", double, &inclusive, huge, -INFINITY, 1000, 1000, INFINITY, NAN);
    const double equal[] = {700, 700, 700, 700};
    EXPECT("logsumexp_f64", double, &inclusive, equal, 700, 700 + log(2), 700 + log(3),
           700 + log(4));
}

Test(operators, integers_wrap_slow)
{
    const int32_t x[] = {INT32_MAX, 1, INT32_MIN, -1};
    EXPECT("sum_i32", int32_t, &inclusive, x, INT32_MAX, INT32_MIN, 0, -1);
    const int64_t y[] = {INT64_MAX, 2, INT64_MIN};
    EXPECT("sum_i64", int64_t, &inclusive, y, INT64_MAX, INT64_MIN + 1, 1);
    EXPECT("product_i64", int64_t, &inclusive, y, INT64_MAX, -2, 0);
    EXPECT("max_i32", int32_t, NULL, x, INT32_MIN, INT32_MAX, INT32_MAX, INT32_MAX);
    EXPECT("min_i64", int64_t, NULL, y, INT64_MAX, INT64_MAX, 2);
}

Test(operators, initial_values_come_before_each_sequence_slow)
{
    const float x[] = {1, 2, 4, 8};
    const float ten = 10;
    struct upsweep_scan_options o = {.initial = &ten, .row = 2};
    EXPECT("sum_f32", float, &o, x, 10, 11, 10, 14);
    o = (struct upsweep_scan_options){.initial = &ten, .columns = 2, .reverse = true};
    EXPECT("sum_f32", float, &o, x, 14, 18, 10, 10);
    o = (struct upsweep_scan_options){.initial = &ten, .inclusive = true};
    EXPECT("decay_f32", float, &o, x, 8, 7, 7.25, 9.4375);
    const uint8_t text[] = "a)(])";
    const int32_t depth = 1;
    o = (struct upsweep_scan_options){.initial = &depth, .inclusive = true};
    expect_results("brackets", text, NULL, 5, &o, (const int32_t[]){1, 0, 1, 0, -1});
}

/* ---- refused --------------------------------------------------------------------------------- */

Test(operators, refuses_slow)
{
    enum { N = 96, WITHOUT_HEADS = 5 }; /* from that one on; a query needs no heads */
    float *in = device_memory(2 * N * sizeof *in), *out = in + N;
    const void *some = in;
    const struct upsweep_scan_options wrong[] = {
        {.row = 5},
        {.columns = 7},
        {.row = 2, .columns = 2},
        {.row = 2, .kind = UPSWEEP_HEADS_BITS, .heads = some},
        {.columns = 2, .kind = UPSWEEP_HEADS_KEYS, .heads = some},
        {.kind = UPSWEEP_HEADS_BYTES},
        {.kind = UPSWEEP_HEADS_BITS},
        {.kind = UPSWEEP_HEADS_KEYS},
        {.kind = UPSWEEP_HEADS_OFFSETS, .count = 1},
        {.kind = (enum upsweep_heads)(UPSWEEP_HEADS_OFFSETS + 1), .heads = some},
    };
    size_t bytes = 0, enough = (size_t)1 << 20;
    char *workspace = device_memory(enough);
    ok(scan_operators_init(workspace, enough, NULL));
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        is(scan_sum_f32(NULL, &bytes, NULL, NULL, N, &wrong[i], NULL),
           i < WITHOUT_HEADS || i == LENGTH(wrong) - 1 ? cudaErrorInvalidValue : cudaSuccess);
        is(scan_sum_f32(workspace, &enough, out, in, N, &wrong[i], NULL), cudaErrorInvalidValue);
    }
    const struct upsweep_scan_options bytes_of = {.kind = UPSWEEP_HEADS_BYTES, .heads = some},
                              keys = {.kind = UPSWEEP_HEADS_KEYS, .heads = some};
    for (const struct scan_function *s = scan_functions; s->name; s++) {
        if (s->all_heads) continue;
        is(call(s, workspace, &enough, out, in, in, N, &bytes_of), cudaErrorNotSupported);
        is(call(s, workspace, &enough, out, in, in, N, &keys), cudaErrorNotSupported);
    }
    const float initial = 0;
    const struct upsweep_scan_options started = {.initial = &initial};
    is(scan_sight_f32(workspace, &enough, (int32_t *)out, in, in, 0, N, &inclusive, NULL),
       cudaErrorInvalidValue);
    is(scan_sight_f32(workspace, &enough, (int32_t *)out, in, in, 0, N, &started, NULL),
       cudaErrorInvalidValue);
    is(scan_affine_f32(workspace, &enough, out, in, NULL, N, NULL, NULL), cudaErrorInvalidValue);
    is(scan_sum_f32(workspace, &(size_t){SIZE_MAX}, out, in, (size_t)1 << 46, NULL, NULL),
       cudaErrorInvalidValue);
    ok(cudaFree(workspace));
    ok(cudaFree(in));
}

/* ---- the step's own judge -------------------------------------------------------------------- */

static struct request request; /* of the judgements below */

/* Judges n results of one sequence. */
static struct verdict judge(enum operator_kind op, enum element element, const void *in, size_t n,
                            const void *out)
{
    struct problem problem = {.element = element, .in = in, .n = n};
    struct verdict verdict = {.right = true, .exact = true, .checked = n};
    request.plain = request.op = op;
    request.element = request.result = element;
    if (op == OP_BRACKETS || op == OP_SIGHT) request.result = ELEMENT_I32;
    operators_judge(&request, &problem, out, &verdict);
    cr_assert(verdict.checked == n && verdict.right == (verdict.wrong == 0));
    return verdict;
}

static void expect_wrong(struct verdict v, size_t index, const char *got, const char *want)
{
    cr_assert(v.wrong == 1 && v.shown == 1, "%zu wrong", v.wrong);
    cr_expect_eq(v.first[0].index, index);
    cr_expect_str_eq(v.first[0].got, got);
    cr_expect_str_eq(v.first[0].want, want);
}

Test(operators, judge_of_exact_results_slow)
{
    const float x[] = {-1, -0.0f, 0.0f, NAN, 2};
    float max[] = {-INFINITY, -1, -0.0f, 0.0f, NAN};
    struct verdict v = judge(OP_MAX, ELEMENT_F32, x, 5, max);
    cr_expect(v.right && v.exact);
    max[2] = 0.0f;
    expect_wrong(judge(OP_MAX, ELEMENT_F32, x, 5, max), 2, "0", "-0");
    max[2] = -0.0f, max[4] = 2;
    expect_wrong(judge(OP_MAX, ELEMENT_F32, x, 5, max), 4, "2", "nan");

    const int32_t k[] = {INT32_MAX, 1, 5};
    int32_t sum[] = {0, INT32_MAX, INT32_MIN};
    cr_expect(judge(OP_SUM, ELEMENT_I32, k, 3, sum).right);
    sum[2] = INT32_MIN + 1;
    expect_wrong(judge(OP_SUM, ELEMENT_I32, k, 3, sum), 2, "-2147483647", "-2147483648");

    const float whole[] = {3, -7, 0x1p23f, 1};
    float sums[] = {0, 3, -4, 0x1p23f - 4};
    v = judge(OP_SUM, ELEMENT_F32, whole, 4, sums);
    cr_expect(v.right && v.exact);
    sums[3] = nextafterf(sums[3], 0);
    cr_expect(judge(OP_SUM, ELEMENT_F32, whole, 4, sums).wrong == 1);

    const uint64_t bits[] = {5, 3, UINT64_MAX};
    uint64_t xors[] = {0, 5, 6};
    cr_expect(judge(OP_XOR, ELEMENT_U64, bits, 3, xors).right);
    xors[2] ^= (uint64_t)1 << 63;
    cr_expect(judge(OP_XOR, ELEMENT_U64, bits, 3, xors).wrong == 1);
}

/* A result may differ by some roundings, and by no more. */
Test(operators, judge_of_rounded_results_slow)
{
    enum { N = 40 };
    static const enum operator_kind ops[] = {OP_SUM, OP_PRODUCT, OP_AFFINE, OP_EMA, OP_LOGSUMEXP};
    float x[N], out[N];
    static float b[N];
    for (int i = 0; i < N; i++) x[i] = 0.9f + 0.01f * (float)(i % 7), b[i] = 0.3f * (float)i;
    request.keep = (double)0.7f, request.take = (double)(float)(1 - request.keep);
    request.second_input = b;
    request.inclusive = true;
    for (size_t k = 0; k < LENGTH(ops); k++) {
        double h = ops[k] == OP_PRODUCT;
        for (int i = 0; i < N; i++) {
            double xi = (double)x[i];
            if (ops[k] == OP_SUM) h += xi;
            if (ops[k] == OP_PRODUCT) h *= xi;
            if (ops[k] == OP_AFFINE) h = xi * h + (double)b[i];
            if (ops[k] == OP_EMA) h = request.keep * h + request.take * xi;
            if (ops[k] == OP_LOGSUMEXP) h += exp(xi);
            out[i] = (float)(ops[k] == OP_LOGSUMEXP ? log(h) : h);
        }
        struct verdict v = judge(ops[k], ELEMENT_F32, x, N, out);
        cr_expect(v.right && !v.exact && v.worst < 0.2, "operator %d: %g", ops[k], v.worst);
        cr_expect(v.bound > 0 && v.bound < 0.01, "operator %d: %g", ops[k], v.bound);
        out[N - 1] = nextafterf(out[N - 1], 1e9f);
        cr_expect(judge(ops[k], ELEMENT_F32, x, N, out).right);
        out[N - 1] *= 1.001f;
        cr_expect_eq(judge(ops[k], ELEMENT_F32, x, N, out).wrong, 1);
        out[N - 1] = NAN;
        cr_expect_eq(judge(ops[k], ELEMENT_F32, x, N, out).wrong, 1);
    }
}

/* Parts of 512 elements that are near each other, or just not, or far apart; and that hardly count
 * beside what comes before them, or are all that counts. */
static float near_or_far(size_t i, size_t n)
{
    float unit = (float)((double)random_bits() * 0x1p-64), place = (float)(i % 512) / 512;
    switch (i / 512 % 8) {
    case 0: return unit;
    case 1: return -15 + 19.99f * place; // ascending: the largest comes last
    case 2: return 5 - 19.99f * place;
    case 3: return i & 1 ? 5 : -15; // exactly NEAR apart
    case 4: return 200 * unit - 150;
    case 5: return i & 1 ? -INFINITY : unit;
    case 6: return -INFINITY;
    default: return 100 * (float)(i / 512) / (float)(n / 512) - 50 + 15 * unit;
    }
}

Test(operators, logsumexp_of_near_and_far_elements_slow)
{
    const struct scan_function *s = find("logsumexp_f32");
    size_t n = many_from(s) + 1000;
    float *x = malloc(n * sizeof *x), *got = malloc(n * sizeof *got);
    float *from = device_memory(n * sizeof *from), *to = device_memory(n * sizeof *to);
    struct job j = {.op = s, .n = n};
    size_t bytes = workspace_bytes(&j, NULL);
    void *workspace = device_memory(bytes);
    ok(scan_operators_init(workspace, bytes, NULL));
    for (int i = 0; i < 8; i++) {
        const struct upsweep_scan_options o = {.inclusive = i & 1, .reverse = i & 2};
        size_t count = i & 4 ? n : 20000;
        for (size_t k = 0; k < count; k++) x[k] = near_or_far(k, count);
        if (i & 4 && !o.reverse) x[n - 3000] = INFINITY, x[n - 700] = NAN;
        ok(cudaMemcpy(from, x, count * sizeof *x, cudaMemcpyHostToDevice));
        ok(scan_logsumexp_f32(workspace, &bytes, to, from, count, &o, NULL));
        ok(cudaMemcpy(got, to, count * sizeof *x, cudaMemcpyDeviceToHost));
        request.inclusive = o.inclusive, request.reverse = o.reverse;
        struct verdict v = judge(OP_LOGSUMEXP, ELEMENT_F32, x, count, got);
        cr_expect(v.right && v.worst < 0.8, "scan %d: %g of the bound", i, v.worst);
    }
    ok(cudaFree(from)), ok(cudaFree(to)), ok(cudaFree(workspace));
    free(x), free(got);
}

static struct verdict judge_partners(const char *text, const int32_t *partners)
{
    request.partners = true;
    return judge(OP_BRACKETS, ELEMENT_I8, text, strlen(text), partners);
}

Test(operators, judge_of_partners_slow)
{
    struct findings *f = &request.found;
    int32_t partners[] = {-1, 2, 1, 6, 5, 4, 3};
    struct verdict v = judge_partners("(()[{}]", partners);
    cr_expect(v.right && v.exact && f->pairs == 3 && f->greatest == 3 && f->open == 1);
    cr_expect(!f->wrong && !f->mixed);
    partners[0] = 2;
    expect_wrong(judge_partners("(()[{}]", partners), 0, "2", "-1");
    partners[0] = -1, partners[6] = INT32_MIN;
    expect_wrong(judge_partners("(()[{}]", partners), 6, "-2147483648", "3");
    const int32_t wrong[7] = {0};
    v = judge_partners("(()[{}]", wrong);
    cr_expect(v.wrong == 7 && v.shown == VERIFY_SHOWN);
}

/* Sequences begin where heads and rows say, in both directions. */
Test(operators, judge_of_sequences_slow)
{
    const int64_t x[] = {1, 2, 3, 4, 5, 6}, rows[] = {0, 1, 3, 0, 4, 9},
                  rows_back[] = {5, 3, 0, 11, 6, 0}, columns[] = {0, 0, 0, 1, 2, 3};
    request.rows = 2, request.columns = 3, request.along = 1;
    cr_expect(judge(OP_SUM, ELEMENT_I64, x, 6, rows).right);
    cr_expect(!judge(OP_SUM, ELEMENT_I64, x, 6, columns).right);
    request.reverse = true;
    cr_expect(judge(OP_SUM, ELEMENT_I64, x, 6, rows_back).right);
    request.reverse = false, request.along = 0;
    cr_expect(judge(OP_SUM, ELEMENT_I64, x, 6, columns).right);
    cr_expect(!judge(OP_SUM, ELEMENT_I64, x, 6, rows).right);
    request.rows = 0;
    request.kind = UPSWEEP_HEADS_BYTES, request.every = 1;
    const int64_t zeros[6] = {0};
    cr_expect(judge(OP_SUM, ELEMENT_I64, x, 6, zeros).right);
}

/* ---- operators of one's own ------------------------------------------------------------------ */

TestSuite(own_operators);

#define NO_LAW   "Not associative: the two ways to combine a, b and c give different results.\n"
#define IDENTITY "Not an identity: to combine a with it changes the result.\n"

static char *said;
static size_t said_bytes;

/* The verdict on an operator, and its words in `said`. */
static bool passes(const struct own_operator *op)
{
    free(said);
    FILE *to = open_memstream(&said, &said_bytes);
    bool passed = op->check(to);
    fclose(to);
    return passed;
}

static void expect_refused(const char *name)
{
    const struct own_operator *op = own_operators;
    while (op->name && strcmp(op->name, name) != 0) op++;
    cr_assert(op->name && !passes(op), "%s", name);
}

static void free_said(void) { free(said); }

/* Each is reported for the law that it breaks, and for no other. */
Test(own_operators, laws_slow, .fini = free_said)
{
    for (const struct own_operator *op = own_operators; op->name; op++) {
        cr_expect_eq(passes(op), op->associative && op->identity, "%s: %s", op->name, said);
        cr_expect_eq(strstr(said, NO_LAW) == NULL, op->associative, "%s: %s", op->name, said);
        cr_expect_eq(strstr(said, IDENTITY) == NULL, op->identity, "%s: %s", op->name, said);
    }
}

Test(own_operators, a_counterexample_can_be_checked_by_hand_slow, .fini = free_said)
{
    expect_refused("subtraction i32");
    const char *found = strstr(said, NO_LAW);
    int a, b, c, first, last;
    cr_assert(found, "%s", said);
    cr_assert_eq(sscanf(found + strlen(NO_LAW),
                        " a: the element %d b: the element %d c: the element %d"
                        " (a ∘ b) ∘ c gives %d a ∘ (b ∘ c) gives %d",
                        &a, &b, &c, &first, &last),
                 5, "%s", said);
    cr_expect_eq(first, a - b - c);
    cr_expect_eq(last, a - (b - c));
    cr_expect_neq(first, last);
}

/* The state that comes before is needed to see the error. */
Test(own_operators, a_counterexample_has_all_that_it_needs_slow, .fini = free_said)
{
    expect_refused("affine without product");
    cr_expect(strstr(said, "  before them: the element ("), "%s", said);
    expect_refused("sight of last");
    cr_expect(strstr(said, "  result for:  the element ("), "%s", said);
    expect_refused("brackets kept");
    cr_expect(strstr(said, "  a: the element '{'\n"), "%s", said);
}

/* A program with `using namespace std` before scan.cuh, and its own macros and types. */
Test(own_operators, beside_names_of_the_program_slow, .init = command_init, .fini = command_fini)
{
    expect_status(0, "$emu --log-file /dev/null $p/names");
    expect("right\n");
}

/* A vector of such results has one element. In step 16's kernel for few elements, and in the
 * pipeline. */
Test(own_operators, results_of_16_bytes_in_short_rows_slow)
{
    expect_status(0, "$emu --log-file /dev/null $p/names 8");
    expect_status(0, "$emu --log-file /dev/null $p/names 300001");
}
