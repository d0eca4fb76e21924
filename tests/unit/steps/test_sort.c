/*
 * test_sort.c — what step 15's sort.h promises: the order of each type, stable, with values, for
 * any n, with a workspace that is used again. The small_ functions have small tiles and no sort in
 * one launch (sort_code.cu), and the wave_ functions small waves (wave_code.cu), so few keys test
 * the code for large n.
 */
#include "tests/support/cudart_check.h"
#include "common/harness/verify/verify.h"
#include "steps/15-radix-sort/step15.h"
#include "steps/15-radix-sort/sort.h"

#include <math.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

TestSuite(sort, .timeout = 120);

/* ---- one sort -------------------------------------------------------------------------------- */

enum { USUAL, SMALL, WAVE, SIZES };

struct job {
    enum element type;
    int size;
    size_t n;
    enum sort_order order;
    bool pairs, own_values; /* values_in is given */
    uint64_t mask;          /* of the random bits: the others are 0 */
    size_t displaced;       /* the arrays of keys, in keys */
};
static const char *const prefixes[SIZES] = {"", "small ", "wave "};

#define DECLARE(prefix, name, Key)                                                                 \
    cudaError_t prefix##_keys_##name(void *, size_t *, Key *, const Key *, size_t,                 \
                                     enum sort_order, cudaStream_t);                               \
    cudaError_t prefix##_pairs_##name(void *, size_t *, Key *, uint32_t *, const Key *,            \
                                      const uint32_t *, size_t, enum sort_order, cudaStream_t);
#define TYPES(TYPE)                                                                                \
    TYPE(u32, uint32_t, ELEMENT_U32)                                                               \
    TYPE(i32, int32_t, ELEMENT_I32)                                                                \
    TYPE(f32, float, ELEMENT_F32)                                                                  \
    TYPE(u64, uint64_t, ELEMENT_U64)                                                               \
    TYPE(i64, int64_t, ELEMENT_I64)                                                                \
    TYPE(f64, double, ELEMENT_F64)
#define DECLARE_OTHERS(name, Key, element) DECLARE(small, name, Key) DECLARE(wave, name, Key)
TYPES(DECLARE_OTHERS)

#define ELEMENT(name, Key, element) element,
static const enum element types[] = {TYPES(ELEMENT)};

static cudaError_t call(const struct job *j, void *workspace, size_t *bytes, void *out,
                        uint32_t *values, const void *in, const uint32_t *from)
{
#define CALL(prefix, name)                                                                         \
    j->pairs ? prefix##_pairs_##name(workspace, bytes, out, values, in, from, j->n, j->order,      \
                                     NULL)                                                         \
             : prefix##_keys_##name(workspace, bytes, out, in, j->n, j->order, NULL)
#define CASE(name, Key, element)                                                                   \
    case element:                                                                                  \
        return j->size == SMALL  ? CALL(small, name)                                               \
               : j->size == WAVE ? CALL(wave, name)                                                \
                                 : CALL(sort, name);
    switch (j->type) {
        TYPES(CASE)
    default: return cudaErrorInvalidValue;
    }
}

static size_t workspace_bytes(const struct job *j)
{
    size_t bytes = 0;
    ok(call(j, NULL, &bytes, NULL, NULL, NULL, NULL));
    return bytes;
}

static uint32_t value_of(const struct job *j, size_t i)
{
    return j->own_values ? (uint32_t)(7 * i + 3) : (uint32_t)i;
}

/* The verdict of the step's own verifier, which takes values that are indices. */
static void expect_right(const struct job *j, const void *keys, char *out)
{
    uint32_t *values = (uint32_t *)(out + j->n * element_size(j->type));
    struct problem problem = {.element = j->type, .in = keys, .n = j->n};
    struct request request = {.pairs = j->pairs, .descending = j->order == SORT_DESCENDING};
    struct verdict v = {.right = true};
    for (size_t i = 0; i < j->n && j->own_values; i++)
        values[i] = values[i] % 7 == 3 ? values[i] / 7 : UINT32_MAX;
    sort_judge(&(struct subject){.self = &request}, &problem, out, &v);
    cr_assert(v.right, "%s%s, n = %zu, mask %llx, order %d, pairs %d %d: [%zu] is %s, not %s",
              prefixes[j->size], element_short(j->type), j->n, (unsigned long long)j->mask,
              j->order, j->pairs, j->own_values, v.first[0].index, v.first[0].got, v.first[0].want);
}

/* Sorts the keys on the device and compares each of them, and its value; and, if it is given, with
 * `want`. */
static void expect_sorted_keys(const struct job *j, void *workspace, size_t bytes, const void *keys,
                               const void *want)
{
    size_t n = j->n, key = element_size(j->type), size = n * key;
    struct guarded in = guarded(keys, size, j->displaced * key);
    struct guarded out = guarded(NULL, size, j->displaced * key);
    uint32_t *values = malloc(n * 4 + 4);
    char *result = malloc(size + n * 4 + 8);
    cr_assert(values != NULL && result != NULL);
    for (size_t i = 0; i < n; i++) values[i] = value_of(j, i);
    struct guarded from = guarded(values, n * 4, 0), to = guarded(NULL, n * 4, 0);
    ok(call(j, workspace, &bytes, out.data, (uint32_t *)to.data, in.data,
            j->own_values ? (uint32_t *)from.data : NULL));
    ok(cudaMemcpy(result, out.data, size, cudaMemcpyDeviceToHost));
    ok(cudaMemcpy(result + size, to.data, n * 4, cudaMemcpyDeviceToHost));
    expect_right(j, keys, result);
    release(&from, values, "the values");
    release(&in, keys, "the keys");
    release(&out, want, "the sorted keys");
    release(&to, NULL, "their values");
    free(values), free(result);
}

/* Does the same with its own workspace. */
static void expect_sorted_alone(const struct job *j, const void *keys, const void *want)
{
    size_t bytes = workspace_bytes(j);
    void *workspace = device_memory(bytes);
    ok(cudaMemset(workspace, 0xFF, bytes)); /* memory that need not be cleared is not */
    ok(sort_workspace_init(workspace, bytes, NULL));
    expect_sorted_keys(j, workspace, bytes, keys, want);
    ok(cudaFree(workspace));
}

/* Random keys. */
static uint64_t *random_keys(const struct job *j)
{
    uint64_t *keys = malloc((j->n + 1) * 8);
    cr_assert(keys != NULL);
    for (size_t i = 0; i < j->n; i++) {
        uint64_t key = random_bits() & (j->mask ? j->mask : UINT64_MAX);
        memcpy((char *)keys + i * element_size(j->type), &key, element_size(j->type));
    }
    return keys;
}

static void expect_sorted(struct job j)
{
    uint64_t *keys = random_keys(&j);
    expect_sorted_alone(&j, keys, NULL);
    free(keys);
}

/* ---- right ----------------------------------------------------------------------------------- */

Test(sort, each_type_and_order_slow)
{
    enum { MANY = LENGTH(types) };
    for (int i = 0; i < MANY * SIZES * 4; i++)
        expect_sorted((struct job){.type = types[i % MANY],
                                   .size = i / MANY % SIZES,
                                   .n = 1500,
                                   .order = i / (MANY * SIZES) % 2,
                                   .pairs = i / (MANY * SIZES) / 2,
                                   .own_values = i % 2});
}

Test(sort, resident_sizes_slow)
{
    static const size_t sizes[] = {1, 2, 31, 32, 33, 1023, 1024, 1025, 2047, 2048, 2049, 16385};
    for (size_t i = 0; i < LENGTH(sizes); i++)
        expect_sorted((struct job){
            .type = ELEMENT_U32, .n = sizes[i], .pairs = i % 2, .own_values = true});
    expect_sorted((struct job){.type = ELEMENT_U64, .n = 2049, .pairs = true});
    /* A cluster without keys to fill it up, so that three passes have nothing to do. */
    expect_sorted((struct job){.type = ELEMENT_U32, .n = 16384, .pairs = true, .mask = 0xff0000});
}

Test(sort, more_keys_a_thread_of_a_cluster_slow)
{
    static const size_t sizes[] = {20000, 40000};
    for (size_t i = 0; i < LENGTH(sizes); i++)
        expect_sorted((struct job){.type = ELEMENT_U32, .n = sizes[i], .pairs = true});
}

/* A tile has 768 keys or 512; from 6000 keys on a state has 8 bytes. */
Test(sort, tiles_slow)
{
    static const size_t sizes[] = {1, 511, 512, 513, 767, 768, 769, 3001, 5999, 6000, 9000};
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (int pairs = 0; pairs < 2; pairs++)
            expect_sorted((struct job){.type = i % 3 ? ELEMENT_U32 : ELEMENT_F64,
                                       .size = SMALL,
                                       .n = sizes[i],
                                       .pairs = pairs,
                                       .own_values = i % 2});
}

/* 5 blocks of 256 threads: 1280 keys a wave for each key of a thread, up to 8. More take tiles. */
Test(sort, waves_slow)
{
    static const size_t sizes[] = {1,    31,   256,  257,  1279, 1280,  1281,
                                   2560, 2561, 5120, 5121, 9999, 10240, 10241};
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (int pairs = 0; pairs < 2; pairs++)
            expect_sorted((struct job){.type = i % 3 ? ELEMENT_F32 : ELEMENT_U64,
                                       .size = WAVE,
                                       .n = sizes[i],
                                       .order = i % 2,
                                       .pairs = pairs,
                                       .own_values = i / 2 % 2});
}

Test(sort, usual_waves_slow)
{
    expect_sorted((struct job){.type = ELEMENT_U32, .n = 70000, .pairs = true});
    expect_sorted((struct job){
        .type = ELEMENT_U64, .n = 140000, .pairs = true, .own_values = true});
}

/* Passes with nothing to do are left out: so each number of active passes, from 0 to 4. */
Test(sort, digits_that_are_all_the_same_slow)
{
    static const uint32_t masks[] = {0x80000001, 0xff,       0xff00,     0xff000000,
                                     0x00ff00ff, 0xffff0000, 0x00ffffff, 0xff00ffff};
    struct job largest = {.type = ELEMENT_U32, .size = SMALL, .n = 2000, .pairs = true};
    size_t bytes = 2 * workspace_bytes(&largest);
    void *workspace = device_memory(bytes);
    ok(sort_workspace_init(workspace, bytes, NULL));
    for (size_t i = 0; i < LENGTH(masks) * SIZES; i++) {
        struct job j = {.type = ELEMENT_U32,
                        .size = (int)(i % SIZES),
                        .n = 2000 - 300 * (i / SIZES % 3),
                        .pairs = i / SIZES % 2,
                        .mask = masks[i / SIZES]};
        uint64_t *keys = random_keys(&j);
        expect_sorted_keys(&j, workspace, bytes, keys, NULL);
        free(keys);
    }
    ok(cudaFree(workspace));
}

/* Equal keys keep their order, in both directions; all keys equal, too. */
Test(sort, stable_slow)
{
    for (int i = 0; i < 4 * SIZES; i++)
        expect_sorted((struct job){.type = i & 1 ? ELEMENT_U64 : ELEMENT_U32,
                                   .size = i / 4,
                                   .n = 2500,
                                   .order = i >> 1 & 1,
                                   .pairs = true,
                                   .mask = 0x30000});
    uint32_t zeros[1100] = {0};
    struct job j = {.type = ELEMENT_U32, .n = LENGTH(zeros), .pairs = true};
    for (j.size = 0; j.size < SIZES; j.size++) expect_sorted_alone(&j, zeros, zeros);
}

/* The total order of sort.h, from one end to the other. */
Test(sort, order_of_floats_slow)
{
    static const float sorted[] = {-NAN, -INFINITY, -3e38f, -1,    -1e-45f,  -0.0f,
                                   0.0f, 1e-45f,    1,      3e38f, INFINITY, NAN};
    enum { N = LENGTH(sorted) };
    float keys[N];
    for (size_t i = 0; i < N; i++) keys[i] = sorted[i * 5 % N];
    struct job up = {.type = ELEMENT_F32, .n = N}, down = up;
    down.order = SORT_DESCENDING;
    expect_sorted_alone(&up, keys, sorted);
    expect_sorted_alone(&down, keys, NULL);
}

/* Arrays that are aligned to one key only. */
Test(sort, arrays_at_odd_addresses_slow)
{
    for (int size = 0; size < SIZES; size++)
        expect_sorted((struct job){.type = ELEMENT_U32, .size = size, .n = 1300, .displaced = 1});
}

/* ---- the step's own verifier ----------------------------------------------------------------- */

/* Judges 6 pairs, one of which `break_it` has made wrong. */
static struct verdict judge(void (*break_it)(uint32_t *keys, uint32_t *values))
{
    static const uint32_t in[] = {5, 1, 5, 0xFFFFFFFF, 0, 1};
    uint32_t out[12] = {0, 1, 1, 5, 5, 0xFFFFFFFF, 4, 1, 5, 0, 2, 3};
    struct problem problem = {.element = ELEMENT_U32, .in = in, .n = 6};
    struct request request = {.type = {true, ELEMENT_U32}, .pairs = true};
    struct verdict verdict = {.right = true, .exact = true, .checked = 6};
    if (break_it) break_it(out, out + 6);
    sort_judge(&(struct subject){.self = &request}, &problem, out, &verdict);
    return verdict;
}

static void swap_equal(uint32_t *keys, uint32_t *values)
{
    (void)keys;
    values[3] = 2, values[4] = 0;
}

static void change_key(uint32_t *keys, uint32_t *values)
{
    (void)values;
    keys[5] = 7;
}

Test(sort, verifier_slow)
{
    struct verdict right = judge(NULL), unstable = judge(swap_equal), changed = judge(change_key);
    cr_expect(right.right && right.exact && right.checked == 6 && right.wrong == 0);
    cr_expect(!unstable.right && unstable.wrong == 2 && unstable.first[0].index == 3);
    cr_expect_str_eq(unstable.first[0].got, "2");
    cr_expect_str_eq(unstable.first[0].want, "0");
    cr_expect_str_eq(unstable.cause,
                     "all keys are right, but 2 values are not those of their keys, "
                     "or equal keys have changed their order");
    cr_expect(!changed.right && changed.wrong == 1 && changed.shown == 1 && !*changed.cause);
    cr_expect_str_eq(changed.first[0].got, "7");
    cr_expect_str_eq(changed.first[0].want, "4294967295");
}
