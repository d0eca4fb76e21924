/*
 * test_numbers.c — random numbers stay what they are, and verdicts do not depend on pieces. The
 * hashes are those of the numbers of a single loop from the first element to the last.
 */
#include "common/harness/input/input.h"
#include "common/harness/verify/verify.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(numbers, .timeout = 600);

/* ---- numbers --------------------------------------------------------------------------------- */

#define HASH_BEGIN 0xCBF29CE484222325 /* FNV-1a */

static uint64_t add_hash(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001B3;
    return hash;
}

static bool has(enum element e, enum random kind)
{
    return element_is_real(e) || kind == RANDOM_INTEGERS || kind == RANDOM_BITS;
}

static void make(struct input *input, enum element e, enum random kind, size_t n)
{
    struct fault fault;
    struct input_part all = {0, n, n}, part = {n / 3, n - n / 3, n};
    input_generate_part(input, e, kind == RANDOM_UNIFORM ? all : part, kind, n, &fault);
}

/* Of all types, at edges of chunks. */
static uint64_t hash_numbers(enum random kind)
{
    static const size_t sizes[] = {1, 16383, 16384, 16385, 1500001};
    uint64_t hash = HASH_BEGIN;
    for (enum element e = ELEMENT_F32; e <= ELEMENT_U64; e++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && has(e, kind); i++) {
            struct input input;
            make(&input, e, kind, sizes[i]);
            hash = add_hash(hash, input.data, input.n * element_size(e));
            input_free(&input);
        }
    return hash;
}

/* Where the walk first comes to the edge of its band. */
static uint64_t hash_edge(void)
{
    struct input input;
    struct fault fault;
    struct input_part part = {64700000, 600000, 70000000};
    input_generate_part(&input, ELEMENT_I16, part, RANDOM_INTEGERS, 1, &fault);
    uint64_t hash = add_hash(HASH_BEGIN, input.data, part.count * sizeof(int16_t));
    input_free(&input);
    return hash;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

enum { N = 140001, BLOCK = 3000, SPOILED = N / 3 / BLOCK * BLOCK };

/* The scan of N integers, of which one bit is wrong here and there, everything from somewhere on,
 * all of a block, or nothing. */
static void *scan(enum element e, const void *in, bool inclusive, int how)
{
    enum element sum = element_of_sum(e);
    size_t bytes = element_size(sum);
    char *out = malloc(N * bytes), *at = out + SPOILED * bytes;
    int64_t total = 0;
    for (size_t i = 0; i < N; i++) {
        long double x;
        element_widen(e, in, i, 1, &x);
        element_store_integer(sum, out, i, total + (inclusive ? (int64_t)x : 0));
        total += (int64_t)x;
    }
    for (size_t i = N / 7; i < N && how == 1; i += N / 5 + 1) out[i * bytes] ^= 1;
    if (how == 2) memmove(at, at + bytes, (N - SPOILED - 1) * bytes);
    if (how == 3) memset(at, VERIFY_POISON, BLOCK * bytes);
    return out;
}

/* As text. The output is passed in pieces, which begin at multiples of `step`. */
static void judge(const struct problem *p, const char *out, size_t step, size_t piece,
                  char text[2000])
{
    struct facts facts = facts_of(p);
    struct verifier v;
    size_t bytes = element_size(element_of_sum(p->element));
    verify_begin(&v, p, &facts, 30, BLOCK);
    for (size_t at = 0; at < N; at += step)
        verify_piece(&v, out + at * bytes, at, N - at < piece ? N - at : piece);
    struct verdict d = verify_end(&v);
    int used = snprintf(text, 2000, "%d %d %zu %zu %a %a %a %s", d.right, d.exact, d.checked,
                        d.wrong, d.worst, d.bound, d.least, d.cause);
    for (size_t i = 0; i < d.shown; i++)
        used += snprintf(text + used, 2000 - (size_t)used, " %zu %s %s", d.first[i].index,
                         d.first[i].got, d.first[i].want);
}

static void expect_same_verdicts(enum element e, bool inclusive)
{
    struct input in;
    make(&in, e, RANDOM_INTEGERS, N + N / 2); /* without the first third */
    struct problem p = {.element = e, .in = in.data, .n = N, .inclusive = inclusive};
    for (int how = 0; how < 4; how++) {
        char *out = scan(e, in.data, inclusive, how), want[2000], got[2000];
        judge(&p, out, 135000, 135000, want);
        judge(&p, out, 1000, 1000, got);
        cr_expect_str_eq(got, want);
        judge(&p, out, 137000, 135000, got); /* with gaps */
        cr_expect_eq(want[0], how ? '0' : '1', "%s", want);
        cr_expect_eq(got[0], want[0], "%s", got);
        free(out);
    }
    input_free(&in);
}

Test(numbers, are_those_of_one_loop_slow)
{
    static const uint64_t want[] = {0x72A0E5C4BDF57031, 0x218EED11634FFB3F, 0x846A77772C64FA06,
                                    0xD79CDFC2F5A26A2B};
    for (enum random kind = RANDOM_INTEGERS; kind <= RANDOM_UNIFORM; kind++)
        cr_expect_eq(hash_numbers(kind), want[kind], "kind %d", kind);
    cr_expect_eq(hash_edge(), 0x100A602DC1946D13);
}

Test(numbers, verdicts_do_not_depend_on_pieces)
{
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        expect_same_verdicts(ELEMENT_F32, inclusive);
        expect_same_verdicts(ELEMENT_I8, inclusive);
    }
}
