/*
 * test_library_select.c — the library's selections against a loop: predicates, flags of elements of
 * each size, partitions, indices; its tables; and its sorts against qsort: each type of key, values
 * of each size, indices, some of the bits, both directions.
 */
#include "tests/unit/library/calls.h"
#include "tests/support/cudart_check.h"

#include <criterion/parameterized.h>
#include <stdlib.h>

TestSuite(library_select, .timeout = 300);

/* Is element i kept, by the function itself? */
static bool keeps(const struct function *f, const unsigned char *in, const uint8_t *flags, size_t i)
{
    size_t width = type_bytes[f->in];
    const unsigned char *x = in + i * width;
    if (f->operation == FLAGGED || f->operation == PARTITION) return flags[i] != 0;
    if (f->operation == NONZERO) {
        bool real = f->in == F16 || f->in == BF16 || f->in == F32 || f->in == F64, any = false;
        for (size_t k = 0; k < width; k++)
            any |= (k == width - 1 && real ? x[k] & 0x7f : x[k]) != 0;
        return any;
    }
    double value = f->in == F32   ? *(const float *)x
                   : f->in == F64 ? *(const double *)x
                   : f->in == I32 ? *(const int32_t *)x
                                  : (double)*(const int64_t *)x;
    return value >= -1 && value <= 2;
}

/* Elements of which one in `part` is 0, -0, or between -1 and 2; with 0 none is. */
static unsigned char *elements_for(const struct function *f, size_t n, unsigned part)
{
    size_t width = type_bytes[f->in];
    unsigned char *in = malloc((n + 1) * width);
    for (size_t i = 0; i < n; i++) {
        unsigned char *x = in + i * width;
        uint64_t bits = random_bits();
        bool is_special = part > 0 && bits % part == 0;
        if (f->operation == SELECT) {
            int value = is_special ? (int)(bits >> 8 & 3) - 1 : (int)(bits >> 8 & 0xffff) + 3;
            if (f->in == F32) *(float *)x = (float)value;
            if (f->in == F64) *(double *)x = value;
            if (f->in == I32) *(int32_t *)x = value;
            if (f->in == I64) *(int64_t *)x = value;
            continue;
        }
        for (size_t k = 0; k < width; k++) x[k] = (unsigned char)(random_bits() | 1);
        if (f->operation != NONZERO || !is_special) continue;
        memset(x, 0, width);
        if (bits >> 8 & 1) x[width - 1] = 0x80; // -0, or not 0
        if ((bits >> 9 & 7) == 0) x[0] = 1;
    }
    return in;
}

static void select_and_expect(const struct function *f, size_t n, unsigned part, bool inverse)
{
    size_t width = type_bytes[f->out], at = 0;
    struct upsweep_predicate p = some_predicate(f->in);
    struct upsweep_select_options o = {.inverse = inverse};
    struct arguments a = {.n = n, .predicate = &p, .select = inverse ? &o : NULL};
    unsigned char *in = elements_for(f, n, part), *out = malloc((n + 1) * width);
    uint8_t *flags = malloc(n + 1);
    uint64_t kept;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = random_bits();
        flags[i] = part > 0 && bits % part == 0 ? (uint8_t)(1 + (bits >> 32) % 255) : 0;
    }
    call_once(f, &a, in, flags, n, out, &kept);
    for (int others = 0; others < (f->operation == PARTITION ? 2 : 1); others++) {
        for (size_t i = 0; i < n; i++) {
            if (keeps(f, in, flags, i) == (inverse != (others == 1))) continue;
            uint64_t index = i;
            const void *want = f->operation == NONZERO ? (const void *)&index : in + i * width;
            cr_assert(memcmp(out + at * width, want, width) == 0,
                      "%s, n = %zu, one in %u: place %zu does not have element %zu", f->name, n,
                      part, at, i);
            at++;
        }
        if (others == 0)
            cr_assert(kept == at, "%s, n = %zu: %llu kept, not %zu", f->name, n,
                      (unsigned long long)kept, at);
    }
    for (; at < n; at++) // what lies behind is as it was
        for (size_t k = 0; k < width; k++) cr_assert(out[at * width + k] == 0xab, "%s", f->name);
    free(in), free(out), free(flags);
}

static bool selects(const struct function *f)
{
    return f->operation >= SELECT && f->operation <= NONZERO;
}

Test(library_select, each_function_and_size_slow)
{
    static const size_t sizes[] = {0, 1, 31, 1024, 4097, 100003};
    static const unsigned parts[] = {0, 1, 2, 3, 17, 2};
    for (size_t k = 0; k < function_count; k++)
        for (size_t s = 0; s < LENGTH(sizes) && selects(&functions[k]); s++) {
            select_and_expect(&functions[k], sizes[s], parts[(s + k) % LENGTH(parts)], false);
            if (functions[k].operation != SELECT && sizes[s] <= 4097)
                select_and_expect(&functions[k], sizes[s], parts[(s + k + 3) % LENGTH(parts)],
                                  true);
        }
}

static const struct function *function_named(const char *name)
{
    for (size_t k = 0; k < function_count; k++)
        if (strcmp(functions[k].name, name) == 0) return &functions[k];
    cr_assert(false, "no function %s", name);
    return NULL;
}

/* Enough elements for select_list, and then for select_pipeline, and a rest. One in 9000 is 0:
 * segments of which all elements are kept. */
struct many {
    char name[24];
    unsigned times, bits, part; /* times 2^bits elements, of which one in `part` is kept */
    bool inverse;
};

ParameterizedTestParameters(library_select, many_elements_of_each_width_slow)
{
    static struct many rows[] = {
        {"select_flagged_b32", 128, 13, 2, false}, {"select_flagged_b64", 128, 12, 3, true},
        {"partition_b128", 128, 11, 2, false},     {"nonzero_f32", 128, 13, 2, false},
        {"nonzero32_i64", 128, 12, 1, true},       {"select_flagged_b32", 512, 13, 2, false},
        {"select_flagged_b8", 1, 21, 2, false},    {"select_flagged_b16", 1, 21, 3, true},
        {"nonzero_i8", 1, 21, 9000, false},        {"nonzero32_f16", 1, 21, 2, true},
        {"partition_b64", 512, 12, 2, true},       {"select_flagged_b128", 1, 21, 5, false},
        {"nonzero_f32", 512, 13, 9000, false},     {"nonzero32_f64", 512, 12, 2, false},
        {"nonzero_i8", 1, 21, 2, false},           {"partition_b16", 1, 21, 2, false}};
    return cr_make_param_array(struct many, rows, LENGTH(rows));
}

ParameterizedTest(struct many *m, library_select, many_elements_of_each_width_slow)
{
    select_and_expect(function_named(m->name), ((size_t)m->times << m->bits) + 77, m->part,
                      m->inverse);
}

/* As many elements, and flags that no bulk copy can take. */
Test(library_select, flags_that_are_not_aligned_slow)
{
    const size_t n = ((size_t)1 << 21) + 77;
    uint8_t *host = malloc(n + 1), *flags = device_memory(n + 1), *in = device_memory(n);
    uint8_t *out = device_memory(n), *got = malloc(n);
    uint64_t *counter = device_memory(sizeof *counter), kept;
    size_t bytes, at = 0;
    for (size_t i = 0; i <= n; i++) host[i] = (uint8_t)(random_bits() % 3);
    ok(cudaMemcpy(flags, host, n + 1, cudaMemcpyHostToDevice));
    ok(cudaMemcpy(in, host, n, cudaMemcpyHostToDevice));
    ok(upsweep_select_flagged_b8(NULL, &bytes, NULL, NULL, NULL, NULL, n, NULL, NULL));
    void *workspace = device_memory(bytes);
    ok(upsweep_select_flagged_b8(workspace, &bytes, out, counter, in, flags + 1, n, NULL, NULL));
    ok(cudaMemcpy(got, out, n, cudaMemcpyDeviceToHost));
    ok(cudaMemcpy(&kept, counter, sizeof kept, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++)
        if (host[i + 1]) cr_assert(got[at++] == host[i], "element %zu", i);
    cr_assert(kept == at);
    free(host), free(got);
    void *const memory[] = {flags, in, out, counter, workspace};
    for (size_t i = 0; i < LENGTH(memory); i++) ok(cudaFree(memory[i]));
}

/* ---- tables ---------------------------------------------------------------------------------- */

Test(library_select, tables_and_boxes_slow)
{
    enum { WIDTH = 37, HEIGHT = 29, CHANNELS = 3, COUNT = WIDTH * HEIGHT * CHANNELS };
    static uint8_t in[COUNT], box[COUNT];
    static uint32_t table[COUNT];
    for (size_t i = 0; i < COUNT; i++) in[i] = (uint8_t)random_bits();
    size_t bytes = 0;
    ok(upsweep_table_u8(NULL, &bytes, NULL, NULL, WIDTH, HEIGHT, CHANNELS, NULL));
    void *workspace = device_memory(bytes);
    uint8_t *pixels = device_memory(sizeof in), *filtered = device_memory(sizeof box);
    uint32_t *sums = device_memory(sizeof table);
    ok(cudaMemset(workspace, 0xff, bytes));
    ok(cudaMemcpy(pixels, in, sizeof in, cudaMemcpyHostToDevice));
    ok(upsweep_table_u8(workspace, &bytes, sums, pixels, WIDTH, HEIGHT, CHANNELS, NULL));
    ok(upsweep_box_u8(filtered, sums, WIDTH, HEIGHT, CHANNELS, 5, NULL));
    ok(cudaMemcpy(table, sums, sizeof table, cudaMemcpyDeviceToHost));
    ok(cudaMemcpy(box, filtered, sizeof box, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < CHANNELS; c++) {
                uint32_t sum = 0, window = 0, pixels_of_window = 0;
                for (int j = 0; j < HEIGHT; j++)
                    for (int i = 0; i < WIDTH; i++) {
                        uint32_t pixel = in[(j * WIDTH + i) * CHANNELS + c];
                        if (i <= x && j <= y) sum += pixel;
                        if (abs(i - x) > 2 || abs(j - y) > 2) continue;
                        window += pixel, pixels_of_window++;
                    }
                int at = (y * WIDTH + x) * CHANNELS + c;
                cr_assert(table[at] == sum, "(%d, %d): %u, not %u", x, y, table[at], sum);
                cr_assert(box[at] == (2 * window + pixels_of_window) / (2 * pixels_of_window));
            }
    ok(cudaFree(workspace)), ok(cudaFree(pixels)), ok(cudaFree(filtered)), ok(cudaFree(sums));
}

/* Pictures of one row: a table is a scan. */
Test(library_select, tables_of_one_row_slow)
{
    static const size_t sizes[] = {0, 1, 31, 1024, 4097, 100003};
    for (size_t k = 0; k < function_count; k++)
        for (size_t s = 0; s < LENGTH(sizes) && functions[k].operation == TABLE; s++) {
            size_t n = sizes[s];
            struct arguments a = {.n = n};
            bool real = functions[k].in == F32;
            void *in = calloc(n + 1, 4), *out = malloc((n + 1) * 4);
            for (size_t i = 0; i < n; i++) {
                if (functions[k].in == U8) ((uint8_t *)in)[i] = (uint8_t)(i % 7);
                if (functions[k].in == U16) ((uint16_t *)in)[i] = (uint16_t)(i % 7);
                if (real) ((float *)in)[i] = (float)(i % 7);
            }
            call_once(&functions[k], &a, in, NULL, 0, out, NULL);
            uint32_t sum = 0;
            for (size_t i = 0; i < n; i++) {
                sum += i % 7;
                cr_assert(real ? ((float *)out)[i] == (float)sum : ((uint32_t *)out)[i] == sum,
                          "%s, n = %zu, element %zu", functions[k].name, n, i);
            }
            free(in), free(out);
        }
}

/* ---- sorts ----------------------------------------------------------------------------------- */

TestSuite(library_sort, .timeout = 300);

/* A key as an unsigned number in the same order, and where it was. */
struct entry {
    uint64_t key;
    size_t index;
};

static uint64_t bits_of(enum type type, const unsigned char *in, size_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, in + i * type_bytes[type], type_bytes[type]);
    return bits;
}

static uint64_t ordered(enum type type, uint64_t bits)
{
    unsigned width = (unsigned)(8 * type_bytes[type]);
    uint64_t sign = (uint64_t)1 << (width - 1), all = sign | (sign - 1);
    bool real = type == F16 || type == BF16 || type == F32 || type == F64;
    if (type == U8 || type == U16 || type == U32 || type == U64) return bits;
    return real && (bits & sign) ? ~bits & all : bits ^ sign;
}

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Sorts random keys; value_bytes 0: keys alone. Without `values` they are indices. */
static void sort_and_expect(const struct function *f, size_t n, size_t value_bytes, bool values,
                            struct upsweep_sort_options o)
{
    size_t width = type_bytes[f->in];
    unsigned end = o.end_bit ? o.end_bit : (unsigned)(8 * width), few = random_bits() % 3 == 0;
    uint64_t mask = end == 64 ? ~(uint64_t)0 : ((uint64_t)1 << end) - 1;
    struct arguments a = {.n = n, .value_bytes = value_bytes, .sort = &o};
    unsigned char *in = malloc((n + 1) * width), *out = malloc((n + 1) * width);
    unsigned char *more = malloc(n * 16 + 1), *more_out = malloc(n * 16 + 1);
    struct entry *e = malloc((n + 1) * sizeof *e);
    for (size_t i = 0; i < n * width; i++)
        in[i] = (unsigned char)(random_bits() & (few ? 0x81 : 0xff));
    for (size_t i = 0; i < n * value_bytes; i++) more[i] = (unsigned char)random_bits();
    for (size_t i = 0; i < n; i++) {
        uint64_t key = ordered(f->in, bits_of(f->in, in, i));
        if (o.descending) key = ~key;
        e[i] = (struct entry){(key & mask) >> o.begin_bit, i};
    }
    qsort(e, n, sizeof *e, compare);
    call_once(f, &a, in, values ? more : NULL, n * value_bytes, out, more_out);
    for (size_t i = 0; i < n; i++) {
        size_t from = e[i].index;
        uint64_t index = from;
        const void *value = values ? more + from * value_bytes : (const void *)&index;
        cr_assert(memcmp(out + i * width, in + from * width, width) == 0,
                  "%s, n = %zu, bits %u to %u: key %zu", f->name, n, o.begin_bit, o.end_bit, i);
        cr_assert(memcmp(more_out + i * value_bytes, value, value_bytes) == 0,
                  "%s, n = %zu, %zu bytes: value %zu", f->name, n, value_bytes, i);
    }
    free(in), free(out), free(more), free(more_out), free(e);
}

Test(library_sort, keys_of_each_type_and_size_slow)
{
    static const size_t sizes[] = {0, 1, 31, 1024, 4097, 100003};
    for (size_t k = 0; k < function_count; k++)
        for (size_t s = 0; s < LENGTH(sizes) && functions[k].operation == KEYS; s++)
            for (int down = 0; down < (sizes[s] <= 4097 ? 2 : 1); down++) {
                struct upsweep_sort_options o = {.descending = (s + k + (size_t)down) % 2};
                sort_and_expect(&functions[k], sizes[s], 0, false, o);
            }
}

Test(library_sort, pairs_of_each_type_and_size_slow)
{
    static const size_t sizes[] = {0, 1, 31, 1024, 4097}, bytes[] = {1, 2, 4, 8, 16};
    struct upsweep_sort_options up = {0}, down = {.descending = true};
    for (size_t k = 0; k < function_count; k++) {
        if (functions[k].operation != PAIRS) continue;
        for (size_t s = 0; s < LENGTH(sizes); s++) {
            for (size_t v = 0; v < LENGTH(bytes); v++)
                sort_and_expect(&functions[k], sizes[s], bytes[v], true, (s + v) % 2 ? up : down);
            sort_and_expect(&functions[k], sizes[s], 4, false, up);
            sort_and_expect(&functions[k], sizes[s], 8, false, down);
        }
        sort_and_expect(&functions[k], 100003, 8, k % 4 < 2, up);
    }
}

Test(library_sort, some_bits_slow)
{
    static const size_t sizes[] = {1, 31, 4097};
    for (size_t k = 0; k < function_count; k++) {
        const struct function *f = &functions[k];
        if (f->operation != KEYS && f->operation != PAIRS) continue;
        unsigned width = (unsigned)(8 * type_bytes[f->in]);
        unsigned ranges[][2] = {
            {0, 1}, {width - 1, 0}, {3, width - 2}, {width / 2, 0}, {0, width / 2}};
        for (size_t r = 0; r < LENGTH(ranges); r++)
            for (size_t s = 0; s < LENGTH(sizes); s++) {
                struct upsweep_sort_options o = {.descending = (r + s) % 2 == 0,
                                                 .begin_bit = ranges[r][0],
                                                 .end_bit = ranges[r][1]};
                size_t bytes = f->operation == PAIRS ? (size_t)4 << (r + s) % 3 : 0;
                sort_and_expect(f, sizes[s], bytes, bytes == 16 || (bytes && r % 2), o);
            }
    }
}

/* More keys than step 15 sorts in one launch. */
Test(library_sort, many_keys_slow)
{
    struct upsweep_sort_options all = {0}, some = {.begin_bit = 5, .end_bit = 19};
    const size_t n = ((size_t)1 << 20) + 77;
    for (size_t k = 0; k < function_count; k++) {
        if (strcmp(functions[k].name, "sort_keys_bf16") == 0)
            sort_and_expect(&functions[k], n, 0, false, all);
        if (strcmp(functions[k].name, "sort_pairs_u8") == 0)
            sort_and_expect(&functions[k], n, 8, false, all);
        if (strcmp(functions[k].name, "sort_keys_i32") == 0)
            sort_and_expect(&functions[k], n, 0, false, some);
    }
}
