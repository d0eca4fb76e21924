/*
 * test_parallel.c — what many threads make or judge is the same as what one does, and the same as
 * it ever was: the hashes are those of the numbers and verdicts of a single loop from the first
 * element to the last.
 */
#define _GNU_SOURCE
#include "common/harness/input/input.h"
#include "common/harness/host/host.h"
#include "common/harness/verify/verify.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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
    static const size_t counts[] = {0, 1, 31, 32, 33, 5000};
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

static void loop_again(void *turn, size_t i)
{
    if (i == *(size_t *)turn) expect_each_turn_once(5000);
}

Test(parallel, a_loop_in_a_loop)
{
    size_t turn = 17;
    EACH_NUMBER_OF_THREADS parallel_for(64, loop_again, &turn);
}

/* A child has none of its parent's threads. */
Test(parallel, a_loop_in_a_child)
{
    parallel_threads = 3;
    expect_each_turn_once(5000);
    pid_t child = fork();
    if (child == 0) {
        expect_each_turn_once(5000);
        _exit(7);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 7);
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

/* The scan of n numbers. */
static void *scan(enum element e, const void *in, size_t n, bool inclusive)
{
    void *out = malloc(n * element_size(element_of_sum(e)));
#define SCAN(name, type, sum_type)                                                                 \
    case name: {                                                                                   \
        double real = 0;                                                                           \
        uint64_t integer = 0;                                                                      \
        for (size_t i = 0; i < n; i++) {                                                           \
            type x = ((const type *)in)[i], before = inclusive ? x : 0;                            \
            if (element_is_real(e))                                                                \
                ((sum_type *)out)[i] = (sum_type)(real + (double)before), real += (double)x;       \
            else                                                                                   \
                ((sum_type *)out)[i] = (sum_type)(integer + (uint64_t)(int64_t)before),            \
                           integer += (uint64_t)(int64_t)x;                                        \
        }                                                                                          \
        break;                                                                                     \
    }
    switch (e) {
        ELEMENT_TYPES(SCAN)
    }
    return out;
}

/* One bit is wrong here and there, everything from somewhere on, all of a block, or nothing. */
static void spoil(void *out, size_t n, size_t bytes, int how, size_t block)
{
    char *at = out;
    size_t some = n / 3 / block * block;
    if (how == 1)
        for (size_t i = n / 7; i < n; i += n / 5 + 1) at[i * bytes] ^= 1;
    if (how == 2) memmove(at + some * bytes, at + (some + 1) * bytes, (n - some - 1) * bytes);
    if (how == 3) memset(at + some * bytes, VERIFY_POISON, block * bytes);
}

static uint64_t add_verdict(uint64_t hash, struct verifier *v)
{
    char text[2000];
    struct verdict d = verify_end(v);
    int used = snprintf(text, sizeof text, "%d %d %zu %zu %a %a %a %s", d.right, d.exact, d.checked,
                        d.wrong, d.worst, d.bound, d.least, d.cause);
    for (size_t i = 0; i < d.shown; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %zu %s %s", d.first[i].index,
                         d.first[i].got, d.first[i].want);
    return add_hash(hash, text, (size_t)used);
}

static uint64_t add_facts(uint64_t hash, const struct facts *f)
{
    char text[300];
    int used =
        snprintf(text, sizeof text, "%d %d %d %d %d %La %a %a %zu", f->finite, f->poison, f->exact,
                 f->exact_in_any_order, f->plain, f->magnitude, f->least, f->quantum,
                 f->minus_zeros);
    return add_hash(hash, text, (size_t)used);
}

/* All of it in pieces, or a part of it with gaps. */
static void pass(struct verifier *v, const char *out, size_t bytes, size_t piece, size_t step)
{
    for (size_t at = 0, n = v->problem.n; at < n; at += step)
        verify_piece(v, out + at * bytes, at, n - at < piece ? n - at : piece);
}

#define BLOCK 3000

static uint64_t hash_verdicts(enum element e, enum kind kind, size_t n, bool inclusive)
{
    struct input in;
    make(&in, e, kind, n);
    struct problem p = {.element = e, .in = in.data, .n = in.n, .inclusive = inclusive};
    struct facts facts = facts_of(&p);
    uint64_t hash = add_facts(HASH_BEGIN, &facts);
    size_t bytes = element_size(element_of_sum(e));
    for (int how = 0; how < 4; how++) {
        void *out = scan(e, in.data, in.n, inclusive);
        struct verifier v;
        spoil(out, in.n, bytes, how, BLOCK);
        verify_begin(&v, &p, &facts, 30, BLOCK);
        pass(&v, out, bytes, 100000, 100000);
        hash = add_verdict(hash, &v);
        verify_begin(&v, &p, &facts, 30, BLOCK);
        pass(&v, out, bytes, 70000, 90000);
        hash = add_verdict(hash, &v);
        free(out);
    }
    input_free(&in);
    return hash;
}

static uint64_t hash_all_verdicts(enum kind kind, bool inclusive)
{
    uint64_t hash = HASH_BEGIN;
    for (enum element e = ELEMENT_F32; e <= ELEMENT_U64; e++) {
        if (!has(e, kind)) continue;
        uint64_t some = hash_verdicts(e, kind, 300001, inclusive);
        hash = add_hash(hash, &some, sizeof some);
    }
    return hash;
}

/* ---- the same as ever ------------------------------------------------------------------------ */

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

Test(parallel, verdicts_are_those_of_one_thread_slow)
{
    uint64_t want[KINDS][2] = {0}; /* of the first number of threads, 1 */
    EACH_NUMBER_OF_THREADS
    {
        for (int kind = INTEGERS; kind < KINDS; kind++)
            for (int inclusive = 0; inclusive < 2; inclusive++) {
                uint64_t hash = hash_all_verdicts(kind, inclusive);
                if (parallel_threads == threads[0]) want[kind][inclusive] = hash;
                cr_expect_eq(hash, want[kind][inclusive], "kind %d, inclusive %d, %u threads", kind,
                             inclusive, parallel_threads);
            }
    }
}
