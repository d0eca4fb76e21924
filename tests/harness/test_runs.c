/*
 * test_runs.c — the parts of the checks of every run: fingerprints, guards, reversed inputs, the
 * number of runs. All steps keep the contract that is tested between runs.
 */
#include "common/harness/run/runs.h"
#include "common/harness/run/reverse.h"
#include "tests/support/scan_once.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- fingerprints ---------------------------------------------------------------------------- */

#define BYTES 5000 /* words of more than one block, and a rest */

static unsigned char bytes[BYTES];

static void fill_bytes(void)
{
    for (size_t i = 0; i < BYTES; i++) bytes[i] = (unsigned char)(i * 7919 >> 3);
}

static uint64_t fingerprint(size_t from, size_t count)
{
    return fingerprint_on_host(bytes + from, count, 0);
}

Test(runs, a_fingerprint_depends_on_every_byte_and_its_place)
{
    fill_bytes();
    uint64_t whole = fingerprint(0, BYTES);
    cr_expect_neq(whole, fingerprint(0, BYTES - 1));
    for (size_t i = 0; i < BYTES; i++) {
        bytes[i] ^= 1;
        cr_expect_neq(fingerprint(0, BYTES), whole, "byte %zu", i);
        bytes[i] ^= 1;
    }
    for (size_t i = 0; i + 8 <= BYTES; i += 4) { /* two words change places */
        unsigned char word[4];
        memcpy(word, bytes + i, 4);
        memcpy(bytes + i, bytes + i + 4, 4);
        memcpy(bytes + i + 4, word, 4);
        if (memcmp(word, bytes + i, 4) != 0)
            cr_expect_neq(fingerprint(0, BYTES), whole, "words at %zu", i);
        memcpy(bytes + i + 4, bytes + i, 4);
        memcpy(bytes + i, word, 4);
    }
    cr_expect_eq(fingerprint(0, BYTES), whole);
}

/* Zeros, ones and the poison: where each word is the same, the number of words still counts. */
Test(runs, fingerprints_of_equal_words)
{
    static const int values[] = {0, 0xFF, 1};
    for (size_t v = 0; v < 3; v++) {
        memset(bytes, values[v], BYTES);
        uint64_t last = fingerprint(0, 4);
        for (size_t count = 8; count <= 400; count += 4) {
            cr_expect_neq(fingerprint(0, count), last);
            last = fingerprint(0, count);
        }
    }
}

Test(runs, a_fingerprint_may_be_taken_in_pieces)
{
    fill_bytes();
    uint64_t pieces = fingerprint_on_host(bytes, 1024, 0) +
                      fingerprint_on_host(bytes + 1024, BYTES - 1024, 1024 / 4);
    cr_expect_eq(pieces, fingerprint(0, BYTES));
}

/* The kernel that is used on a GPU, of any alignment and length. */
Test(runs, the_device_takes_the_same_fingerprints)
{
    static const size_t counts[] = {1, 2, 3, 4, 5, 1023, 1024, 1025, 4096, BYTES - 9};
    uint64_t *sum, got, none = 0;
    unsigned char *copy;
    fill_bytes();
    cr_assert(cudaMalloc((void **)&sum, sizeof *sum) == cudaSuccess);
    cr_assert(cudaMalloc((void **)&copy, BYTES) == cudaSuccess);
    cr_assert(cudaMemcpy(copy, bytes, BYTES, cudaMemcpyHostToDevice) == cudaSuccess);
    for (size_t from = 0; from < 9; from++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            cr_assert(cudaMemcpy(sum, &none, sizeof none, cudaMemcpyHostToDevice) == cudaSuccess);
            cr_assert(fingerprint_on_device(copy + from, counts[i], sum, NULL) == cudaSuccess);
            cr_assert(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
            cr_expect_eq(got, fingerprint(from, counts[i]), "%zu bytes from %zu on", counts[i],
                         from);
        }
    cudaFree(copy);
    cudaFree(sum);
}

/* More than one piece of those that are copied to the host. */
#define LARGE (3 << 20)

static void expect_fingerprints(struct fingerprinter *f, const struct buffer *large,
                                const unsigned char *want)
{
    const struct span spans[] = {
        {large->data, LARGE, false}, {want, LARGE, true}, {large->data, 10, false}};
    struct fault fault;
    uint64_t got[3];
    cr_assert_eq(fingerprints(f, spans, 3, NULL, got, &fault), 0);
    cr_expect_eq(got[0], fingerprint_on_host(want, LARGE, 0));
    cr_expect_eq(got[1], got[0]);
    cr_expect_eq(got[2], fingerprint_on_host(want, 10, 0));
}

/* On the emulator the host computes fingerprints; the kernels for GPUs must give the same. */
Test(runs, fingerprints_of_device_and_host)
{
    struct fingerprinter by_host, by_kernels = {0};
    struct fault fault;
    struct buffer large;
    cr_assert_eq(buffer_make(&large, LARGE, 4, false, "a buffer", &fault), 0);
    unsigned char *want = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++) want[i] = (unsigned char)(i * 31 >> 5);
    cr_assert(buffer_upload(&large, 0, want, LARGE) == cudaSuccess);
    cr_assert_eq(fingerprinter_open(&by_host, false, &fault), 0);
    expect_fingerprints(&by_host, &large, want);
    cr_assert(cudaMalloc((void **)&by_kernels.sums, FINGERPRINT_SPANS * sizeof(uint64_t)) ==
              cudaSuccess);
    expect_fingerprints(&by_kernels, &large, want);
    free(want);
    buffer_free(&large);
    fingerprinter_close(&by_host);
    fingerprinter_close(&by_kernels);
}

/* After a span that cannot be copied, no fingerprints are taken, and the error is returned. */
Test(runs, fingerprints_of_memory_that_is_not_there)
{
    struct fingerprinter by_host, by_kernels = {0};
    struct fault fault;
    void *freed;
    cr_assert_eq(fingerprinter_open(&by_host, false, &fault), 0);
    cr_assert(cudaMalloc((void **)&by_kernels.sums, FINGERPRINT_SPANS * sizeof(uint64_t)) ==
              cudaSuccess);
    cr_assert(cudaMalloc(&freed, BYTES) == cudaSuccess && cudaFree(freed) == cudaSuccess);
    const struct span spans[] = {{freed, BYTES, false}, {bytes, BYTES, true}};
    struct fingerprinter *both[] = {&by_host, &by_kernels};
    for (size_t i = 0; i < 2; i++) {
        uint64_t got[2] = {0, 7};
        cr_expect_eq(fingerprints(both[i], spans, 2, NULL, got, &fault), EXIT_DEVICE);
        cr_expect(strstr(fault.text, "cudaMemcpy failed: ") ||
                      strstr(fault.text, "cudaMemcpyAsync failed: "),
                  "%s", fault.text);
        cr_expect_eq(got[1], 7, "a span behind it was taken");
        fingerprinter_close(both[i]);
    }
}

/* ---- the reversed input ---------------------------------------------------------------------- */

Test(runs, the_device_reverses_as_the_host_does)
{
    static const size_t sizes[] = {1, 2, 4, 8}, counts[] = {1, 2, 3, 512, 513, 600};
    static unsigned char want[BYTES], got[BYTES];
    unsigned char *copy;
    fill_bytes();
    cr_assert(cudaMalloc((void **)&copy, BYTES) == cudaSuccess);
    for (size_t s = 0; s < 4; s++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            cr_assert(cudaMemcpy(copy, bytes, BYTES, cudaMemcpyHostToDevice) == cudaSuccess);
            cr_assert(reverse_on_device(copy, sizes[s], counts[i], NULL) == cudaSuccess);
            cr_assert(cudaMemcpy(got, copy, BYTES, cudaMemcpyDeviceToHost) == cudaSuccess);
            memcpy(want, bytes, BYTES);
            reverse_on_host(want, bytes, sizes[s], counts[i]);
            cr_expect_arr_eq(got, want, BYTES, "%zu elements of %zu bytes", counts[i], sizes[s]);
            for (size_t k = 0; k < sizes[s]; k++)
                cr_expect_eq(want[k], bytes[(counts[i] - 1) * sizes[s] + k]);
        }
    cr_expect(reverse_on_device(copy, 3, 10, NULL) == cudaErrorInvalidValue);
    cudaFree(copy);
}

/* ---- guards ---------------------------------------------------------------------------------- */

static void write_byte(struct buffer *buffer, long at, unsigned char value)
{
    unsigned char *place = (unsigned char *)buffer->data + at;
    if (buffer->on_host)
        *place = value;
    else
        cr_assert(cudaMemcpy(place, &value, 1, cudaMemcpyHostToDevice) == cudaSuccess);
}

static void expect_damage(struct buffer *buffer, long want)
{
    cudaError_t error;
    cr_expect_eq(buffer_damage(buffer, &error), want);
    cr_expect_eq(error, cudaSuccess);
}

Test(runs, guards_show_the_nearest_damage)
{
    for (int on_host = 0; on_host < 2; on_host++) {
        enum { N = 300001 };
        struct buffer buffer;
        struct fault fault;
        cr_assert_eq(buffer_make(&buffer, N, 3, on_host, "a buffer", &fault), 0);
        expect_damage(&buffer, 0);
        static const long beyond[] = {300000, 256 << 10, 5000, 2, 1};
        for (size_t i = 0; i < 5; i++) {
            write_byte(&buffer, N - 1 + beyond[i], 0);
            expect_damage(&buffer, beyond[i]);
        }
        for (size_t i = 0; i < 5; i++) write_byte(&buffer, N - 1 + beyond[i], BUFFER_POISON);
        expect_damage(&buffer, 0);
        for (size_t i = 0; i < 5; i++) {
            write_byte(&buffer, -beyond[i], 0);
            expect_damage(&buffer, -beyond[i]);
        }
        write_byte(&buffer, N, 0);
        expect_damage(&buffer, 1);
        buffer_free(&buffer);
    }
}

/* ---- the number of runs ---------------------------------------------------------------------- */

Test(runs, a_slow_scan_is_still_timed)
{
    cr_expect_eq(timing_default_reps(true, 1e-3), 3);
    cr_expect_eq(timing_default_reps(true, 0.2), 2);
    cr_expect_eq(timing_default_reps(true, 0.4), 1);
    cr_expect_eq(timing_default_reps(true, 100), 1);
    cr_expect_eq(timing_default_reps(false, 1e-3), 15);
    cr_expect_eq(timing_default_reps(false, 0.05), 10);
    cr_expect_eq(timing_default_reps(false, 0.2), 5);
    cr_expect_eq(timing_default_reps(false, 100), 5);
}

/* Each run is prepared, timed and checked; a check that returns a code ends the runs. */
struct calls {
    int prepared, run, checked, wrong; /* `wrong` is the run whose check returns EXIT_WRONG */
};

static cudaError_t note_prepared(void *context, cudaStream_t stream)
{
    struct calls *calls = context;
    (void)stream;
    calls->prepared++;
    cr_expect_eq(calls->run, calls->checked, "a run is checked before the next is prepared");
    return cudaSuccess;
}

static cudaError_t note_run(void *context, cudaStream_t stream)
{
    (void)stream;
    ((struct calls *)context)->run++;
    return cudaSuccess;
}

static int note_checked(void *context, struct fault *fault)
{
    struct calls *calls = context;
    (void)fault;
    return ++calls->checked == calls->wrong ? EXIT_WRONG : 0;
}

Test(runs, each_timed_run_is_checked)
{
    for (int wrong = 0; wrong <= 4; wrong++)
        for (int on_host = 0; on_host < 2; on_host++) {
            struct timer timer;
            struct timing timing;
            struct fault fault;
            struct calls calls = {.wrong = wrong};
            cr_assert_eq(timer_open(&timer, on_host, &fault), 0);
            int code = timer_run_warm(&timer, note_prepared, note_run, note_checked, &calls, 4,
                                      &timing, &fault);
            cr_expect_eq(code, wrong ? EXIT_WRONG : 0);
            cr_expect_eq(timing.reps, wrong ? 0 : 4);
            cr_expect_eq(calls.run, wrong ? wrong : 4);
            cr_expect_eq(calls.checked, calls.run);
            cr_expect_eq(calls.prepared, calls.run);
            timer_close(&timer);
        }
}

/* ---- the exchange of two elements ------------------------------------------------------------ */

#define EXCHANGED 5000 /* elements */

/* The running sums of integers, which every type holds. */
static void sum_on_host(enum element element, const void *in, bool inclusive, void *out)
{
    int64_t sum = 0;
    long double next;
    for (size_t i = 0; i < EXCHANGED; i++) {
        element_widen(element, in, i, 1, &next);
        if (inclusive) sum += (int64_t)next;
        enum element type = element_of_sum(element);
        if (element_is_real(type))
            element_store_real(type, out, i, (double)sum);
        else
            element_store_integer(type, out, i, sum);
        if (!inclusive) sum += (int64_t)next;
    }
}

/* Scans the input after an exchange, undoes the exchange, and compares with a scan without one. */
static void expect_taken_back(const struct problem *p, uint64_t number)
{
    static int64_t room[EXCHANGED], want[EXCHANGED];
    struct facts facts = facts_of(p);
    struct exchange x = exchange_choose(p, &facts, number);
    size_t in_bytes = EXCHANGED * element_size(p->element);
    size_t out_bytes = EXCHANGED * element_size(element_of_sum(p->element));
    struct buffer in, out;
    struct fault fault;
    cr_assert(x.low < x.high && x.high < EXCHANGED, "%zu %zu", x.low, x.high);
    cr_assert_leq(exchange_room(EXCHANGED), sizeof room);
    cr_assert_eq(buffer_make(&in, in_bytes, 0, true, "the input", &fault), 0);
    cr_assert_eq(buffer_make(&out, out_bytes, 0, true, "the output", &fault), 0);
    memcpy(in.data, p->in, in_bytes);
    cr_assert(exchange_elements(&x, p, &in) == cudaSuccess);
    cr_expect(memcmp(in.data, p->in, in_bytes) != 0);
    sum_on_host(p->element, in.data, p->inclusive, out.data);
    sum_on_host(p->element, p->in, p->inclusive, want);
    cr_expect(memcmp(out.data, want, out_bytes) != 0);
    cr_assert(exchange_elements_back(&x, p, &in) == cudaSuccess);
    cr_assert(exchange_sums(&x, p, &out, false, room) == cudaSuccess);
    cr_expect_arr_eq(in.data, p->in, in_bytes);
    cr_expect_arr_eq(out.data, want, out_bytes, "%s", element_name(p->element));
    buffer_free(&in);
    buffer_free(&out);
}

Test(runs, an_exchange_is_taken_back_bit_by_bit)
{
    static const enum element types[] = {ELEMENT_F32, ELEMENT_F64, ELEMENT_I32,
                                         ELEMENT_I64, ELEMENT_I16, ELEMENT_I8};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct input input;
        struct fault fault;
        cr_assert_eq(input_generate(&input, types[t], EXCHANGED, false, 1, &fault), 0);
        for (int inclusive = 0; inclusive < 2; inclusive++) {
            struct problem problem = {
                .element = types[t], .in = input.data, .n = EXCHANGED, .inclusive = inclusive};
            for (uint64_t number = 1; number < 40; number++) expect_taken_back(&problem, number);
        }
        input_free(&input);
    }
}

/* Where undoing the exchange would round, a wrong sum could become the right one. */
Test(runs, an_exchange_does_not_hide_a_small_error)
{
    float in[2] = {0, 1 << 20}, out[2] = {0}, room[4];
    struct problem problem = {.element = ELEMENT_F32, .in = in, .n = 2, .inclusive = true};
    struct exchange x = {0, 1};
    struct buffer buffer = {.data = out, .bytes = sizeof out, .on_host = true};
    out[0] = 1e-3f; /* 2^20 is right, and 0 when undone; 1e-3 - 2^20 is rounded to -2^20 */
    cr_assert(exchange_sums(&x, &problem, &buffer, false, room) == cudaSuccess);
    cr_expect_eq(out[0], 1e-3f);
    out[0] = NAN;
    cr_assert(exchange_sums(&x, &problem, &buffer, false, room) == cudaSuccess);
    cr_expect(isnan(out[0]));
}

/* An element that the run has changed is not restored, so the change is noticed. */
Test(runs, an_exchange_does_not_hide_a_changed_input)
{
    float in[3] = {1, 2, 3}, now[3] = {1, 2, 3};
    struct problem problem = {.element = ELEMENT_F32, .in = in, .n = 3};
    struct exchange x = {0, 2};
    struct buffer buffer = {.data = now, .bytes = sizeof now, .on_host = true};
    cr_assert(exchange_elements(&x, &problem, &buffer) == cudaSuccess);
    cr_expect(now[0] == 3 && now[1] == 2 && now[2] == 1);
    now[2] = 7;
    cr_assert(exchange_elements_back(&x, &problem, &buffer) == cudaSuccess);
    cr_expect(now[0] == 1 && now[1] == 2 && now[2] == 7);
}

Test(runs, where_there_is_nothing_to_exchange)
{
    float equal[] = {5, 5, 5, 5}, real[] = {0.1f, 1e9f, 3};
    double reference[3] = {0};
    struct problem none[] = {{.element = ELEMENT_F32, .in = equal, .n = 4},
                             {.element = ELEMENT_F32, .in = equal, .n = 1},
                             {.element = ELEMENT_F32, .in = real, .n = 3}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct facts facts = facts_of(&none[i]);
        struct exchange x = exchange_choose(&none[i], &facts, 1);
        cr_expect(x.low == 0 && x.high == 0, "%zu: %zu %zu", i, x.low, x.high);
    }
    struct facts exact = {.exact = true, .finite = true};
    none[2].reference = reference;
    cr_expect_eq(exchange_choose(&none[2], &exact, 1).high, 0);
    none[2].reference = NULL;
    cr_expect_neq(exchange_choose(&none[2], &exact, 1).high, 0);
}

/* ---- the steps keep the contract ------------------------------------------------------------- */

static void expect_right_run(const struct step *step, struct options options, bool emulated)
{
    struct fault fault = {0};
    struct input input;
    struct subject subject;
    struct runs runs;
    struct outcome o;
    cr_assert_eq(subject_open(&subject, step, &options, &fault), 0);
    subject.element = step_element(step, options.variant);
    cr_assert_eq(input_generate(&input, subject.element, options.n, options.real, 1, &fault), 0);
    int code = runs_open(&runs, &subject, &input, emulated, &fault);
    if (!code) code = runs_do(&runs, &o, &fault);
    cr_assert_eq(code, 0, "step %d %s: %s", step->number, variant_name(step, options.variant),
                 fault.text);
    cr_expect(o.right, "step %d %s, n = %zu%s%s%s: %s%s %s", step->number,
              variant_name(step, options.variant), options.n, options.in_place ? ", in place" : "",
              options.offset ? ", displaced" : "", options.real ? ", real" : "", o.damage,
              o.verdict.cause, o.run);
    cr_expect_eq(o.timing.reps, options.reps);
    outcome_free(&o);
    runs_close(&runs);
    input_free(&input);
}

#define SEVERAL_LEVELS 70000 /* elements: once is enough */

static void expect_right_runs(const struct step *step, int variant, size_t n)
{
    struct options options = {.n = n, .variant = variant, .reps = 2};
    bool is_real = element_is_real(step_element(step, variant));
    expect_right_run(step, options, true);
    if (n == SEVERAL_LEVELS) return;
    options.offset = 1;
    expect_right_run(step, options, true);
    options.real = is_real;
    expect_right_run(step, options, true);
    if (step->number == 0) return; /* a copy is never in place or inclusive */
    options.in_place = element_size(step_element(step, variant)) ==
                       element_size(element_of_sum(step_element(step, variant)));
    options.inclusive = !(step->reference && variant);
    expect_right_run(step, options, true);
    options.offset = 0;
    expect_right_run(step, options, true);
}

Test(runs, all_steps_keep_the_contract_slow)
{
    static const size_t sizes[] = {1, 2, 512, 4099, SEVERAL_LEVELS};
    for (int s = 0; s <= SCAN_STEPS; s++) {
        const struct step *step = s ? scan_steps[s - 1] : &step00;
        for (int v = step->number == 0; v < variant_count(step); v++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                struct fault unfit;
                if (options_check_n(step, sizes[i], "n", &unfit)) continue;
                expect_right_runs(step, v, sizes[i]);
            }
    }
}

/* The parts that differ on a GPU: kernels reverse the input, and the roof is measured. */
Test(runs, as_on_a_gpu)
{
    struct options options = {.n = 4099, .reps = 4};
    for (int i = 0; i < 4; i++) {
        options.in_place = i & 1;
        options.offset = i & 2;
        expect_right_run(&step09, options, false);
    }
    options.variant = 5; /* bytes */
    options.in_place = false;
    expect_right_run(&step12, options, false);
}

/* ---- a sample -------------------------------------------------------------------------------- */

#define SAMPLED    (1 << 20) /* elements; --verify sample leaves some of them out */
#define NOT_LOOKED 5000      /* one of these */

static int call;
static bool into_input;

/* Step 9's scan, whose third call writes one element more. */
static cudaError_t spoil_third_call(void *out, const void *in, size_t n, int variant,
                                    void *workspace, cudaStream_t stream)
{
    float *array = into_input ? (float *)in : out;
    cudaError_t error = step09.scan(out, in, n, variant, workspace, stream);
    if (error || ++call != 3) return error;
    return cudaMemsetAsync(array + NOT_LOOKED, 0x3F, sizeof *array, stream);
}

/* Timed runs are compared as a whole, so an error in elements outside the sample is found. */
Test(runs, a_sample_does_not_hide_a_run_that_differs)
{
    for (int i = 0; i < 2; i++) {
        struct options options = {.n = SAMPLED, .reps = 2, .verify = VERIFY_SAMPLE};
        struct step step = step09;
        struct fault fault;
        struct input input;
        struct subject subject;
        struct runs runs;
        struct outcome o;
        into_input = i;
        call = -1; /* call 0 is captured and never runs */
        step.scan = spoil_third_call;
        cr_assert_eq(input_generate(&input, step.element, SAMPLED, false, 1, &fault), 0);
        cr_assert_eq(subject_open(&subject, &step, &options, &fault), 0);
        cr_assert_eq(runs_open(&runs, &subject, &input, true, &fault), 0);
        cr_assert_eq(runs_do(&runs, &o, &fault), 0);
        cr_expect_not(o.right);
        cr_expect_str_eq(o.run, "timed run 1 of 2");
        if (into_input)
            cr_expect_str_eq(o.damage, "the input was modified, first at element 5000");
        else
            cr_expect_eq(o.verdict.first[0].index, NOT_LOOKED);
        outcome_free(&o);
        runs_close(&runs);
        input_free(&input);
    }
}
