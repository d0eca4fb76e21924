/*
 * test_library_sort.c — the library's sorts against qsort: each type of key, values of each size,
 * indices, some of the bits, both directions.
 */
#include "tests/library/calls.h"
#include "tests/support/cudart_check.h"
#include "tests/support/random.h"

#include <stdlib.h>

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
