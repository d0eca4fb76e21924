/*
 * test_parallel.c — what many threads make or judge is the same as what one does. The hashes are
 * those of the numbers of a single loop from the first element to the last.
 */
#define _GNU_SOURCE
#include "common/harness/input/input.h"
#include "common/harness/host/host.h"
#include "common/harness/verify/verify.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const unsigned threads[] = {1, 2, 3, 7};
#define EACH_NUMBER_OF_THREADS                                                                     \
    for (size_t t = 0; t < sizeof threads / sizeof *threads && (parallel_threads = threads[t]); t++)

TestSuite(parallel, .timeout = 600);

/* ---- the loop -------------------------------------------------------------------------------- */

static int turns[5000];

static void take(void *add, size_t i) { turns[i] += *(int *)add; }

static void expect_each_turn_once(size_t count)
{
    int add = 1;
    memset(turns, 0, sizeof turns);
    parallel_for(count, take, &add);
    for (size_t i = 0; i < 5000; i++)
        cr_assert_eq(turns[i], i < count, "turn %zu of %zu", i, count);
}

Test(parallel, each_turn_is_taken_once)
{
    static const size_t counts[] = {0, 1, 63, 64, 65, 5000};
    EACH_NUMBER_OF_THREADS
    for (int again = 0; again < 50; again++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            expect_each_turn_once(counts[i]);
}

/* Waits until another thread has come, too. */
static void wait_for_another(void *come, size_t i)
{
    atomic_int *threads_come = come;
    static _Thread_local bool has_come;
    if (!has_come) ++*threads_come;
    has_come = true;
    for (int tries = 0; *threads_come < 2 && tries < 1000; tries++) usleep(1000);
    (void)i;
}

Test(parallel, several_threads_take_turns)
{
    atomic_int come = 0;
    parallel_threads = 2;
    parallel_for(64, wait_for_another, &come);
    cr_expect_eq(come, 2);
}

/* ---- numbers --------------------------------------------------------------------------------- */

#define HASH_BEGIN 0xCBF29CE484222325 /* FNV-1a */

static uint64_t add_hash(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001B3;
    return hash;
}

enum kind { INTEGERS, REALS, BITS, UNIFORM, KINDS };

static bool has(enum element e, enum kind kind)
{
    return element_is_real(e) || kind == INTEGERS || kind == BITS;
}

static void make(struct input *input, enum element e, enum kind kind, size_t n)
{
    struct fault fault;
    struct input_part part = {n / 3, n - n / 3, n};
    switch (kind) {
    case INTEGERS: input_generate_part(input, e, part, false, n, &fault); break;
    case REALS: input_generate_part(input, e, part, true, n, &fault); break;
    case BITS: input_generate_bits_part(input, e, part, n, &fault); break;
    default: input_generate_uniform(input, e, n, n, &fault);
    }
}

/* Of all types, at edges of chunks, and with chunks enough for several threads. */
static uint64_t hash_numbers(enum kind kind)
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
    input_generate_part(&input, ELEMENT_I16, part, false, 1, &fault);
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

/* As text. The output is passed in pieces, or a part of it with gaps. */
static void judge(const struct problem *p, const char *out, size_t step, char text[2000])
{
    struct facts facts = facts_of(p);
    struct verifier v;
    size_t bytes = element_size(element_of_sum(p->element)), piece = 135000;
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
    make(&in, e, INTEGERS, N + N / 2); /* without the first third */
    struct problem p = {.element = e, .in = in.data, .n = N, .inclusive = inclusive};
    for (int how = 0; how < 4; how++) {
        char *out = scan(e, in.data, inclusive, how), want[2000], got[2000];
        for (size_t step = 135000; step <= 137000; step += 2000)
            EACH_NUMBER_OF_THREADS
            {
                judge(&p, out, step, t ? got : want);
                if (t) cr_expect_str_eq(got, want, "%u threads", parallel_threads);
            }
        cr_expect_eq(want[0], how ? '0' : '1', "%s", want);
        free(out);
    }
    input_free(&in);
}

Test(parallel, numbers_are_those_of_one_thread_slow)
{
    static const uint64_t want[KINDS] = {0x72A0E5C4BDF57031, 0x218EED11634FFB3F, 0x846A77772C64FA06,
                                         0xD79CDFC2F5A26A2B};
    EACH_NUMBER_OF_THREADS
    {
        for (int kind = INTEGERS; kind < KINDS; kind++)
            cr_expect_eq(hash_numbers(kind), want[kind], "kind %d, %u threads", kind,
                         parallel_threads);
        cr_expect_eq(hash_edge(), 0x100A602DC1946D13, "%u threads", parallel_threads);
    }
}

Test(parallel, verdicts_are_those_of_one_thread)
{
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        expect_same_verdicts(ELEMENT_F32, inclusive);
        expect_same_verdicts(ELEMENT_I8, inclusive);
    }
}
