/*
 * test_runs.c — runs: verified, timed, repeated; the roof.
 */
#include "common/harness/run/device.h"
#include "common/harness/run/runs.h"
#include "tests/cases/wrong/wrong.h"
#include "tests/support/command.h"
#include "tests/support/scan_once.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* ---- the ways to copy that make the roof ----------------------------------------------------- */

/* They copy up to the last byte and no further; what empties the L2 does not change the array that
 * it reads. */

enum { MIB = 1 << 20 };

/* Copies in every way, and checks each byte and the guards. */
static void expect_copies(size_t bytes)
{
    struct buffer from, to;
    struct fault fault;
    unsigned char *want = malloc(bytes + 1), *got = malloc(bytes + 1);
    cr_assert(want != NULL && got != NULL);
    cr_assert(buffer_make(&from, bytes, 0, false, "from", &fault) == 0, "%s", fault.text);
    cr_assert(buffer_make(&to, bytes, 0, false, "to", &fault) == 0, "%s", fault.text);
    for (size_t i = 0; i < bytes; i++) want[i] = (unsigned char)(i * 2654435761u >> 13);
    cr_assert(buffer_upload(&from, 0, want, bytes) == cudaSuccess);

    for (int way = 0; way < ROOF_WAYS; way++) {
        const char *name = roof_ways[way].name;
        cudaError_t error;
        cr_assert(buffer_poison(&to, NULL) == cudaSuccess);
        cr_assert(roof_ways[way].copy(to.data, from.data, bytes, NULL) == cudaSuccess, "%s", name);
        cr_assert(cudaDeviceSynchronize() == cudaSuccess, "%s of %zu bytes", name, bytes);
        cr_assert(buffer_download(&to, 0, got, bytes) == cudaSuccess);
        cr_expect(memcmp(got, want, bytes) == 0, "%s of %zu bytes", name, bytes);
        cr_expect(buffer_damage(&to, &error) == 0 && error == cudaSuccess, "%s of %zu bytes", name,
                  bytes);
    }
    buffer_free(&from);
    buffer_free(&to);
    free(want);
    free(got);
}

Test(roof, every_way_copies_every_byte_and_no_other)
{
    static const size_t sizes[] = {1, 15, 16, 17, 16384, 16384 + 16, 5 * 16384 + 3, MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) expect_copies(sizes[i]);
}

/* Every block of the bulk kernel goes round its ring: 132 SMs with 2 blocks of 6 stages. */
Test(roof, bulk_copies_go_round_the_ring) { expect_copies(2 * 132 * 16384 * 15 + 16 * 77 + 5); }

Test(roof, misaligned_pointers_are_refused)
{
    char *buffer;
    cr_assert(cudaMalloc((void **)&buffer, 4096) == cudaSuccess);
    for (int way = 1; way < ROOF_WAYS; way++) /* cudaMemcpyAsync takes any alignment */
        cr_expect(roof_ways[way].copy(buffer, buffer + 2052, 1024, NULL) ==
                  cudaErrorMisalignedAddress);
    cudaFree(buffer);
}

Test(roof, reading_to_empty_the_l2_changes_nothing)
{
    static unsigned char got[MIB];
    unsigned char *array;
    cr_assert(cudaMalloc((void **)&array, MIB) == cudaSuccess);
    cr_assert(cudaMemset(array, 0, MIB) == cudaSuccess);
    cr_assert(flush_read(array, MIB, NULL) == cudaSuccess);
    cr_assert(cudaMemcpy(got, array, MIB, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int i = 0; i < MIB; i++) cr_assert(got[i] == 0, "byte %d", i);
    cudaFree(array);
}

/* ---- a built tree that was copied or moved: it prints lines of its own files ----------------- */

TestSuite(moved, .init = command_init, .fini = command_fini, .timeout = 60);

Test(moved, counters_name_the_lines_of_the_new_tree)
{
    expect_status(0, "cp -rL --parents step3 steps/03-work-efficient build/emu $t && cd $t && "
                     "sed -i 's/temp.bi. += temp.ai.;/& moved/' steps/03-work-efficient/scan.cu && "
                     "./step3 --device emu --counters 2>&1");
    expect(" steps/03-work-efficient/scan.cu:");
    expect("temp[bi] += temp[ai]; moved");
    expect_status(0, "cd $t && ./step3 --device emu --csv 2>&1");
    expect(",steps/03-work-efficient/scan.cu:");
}

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

/* ---- the steps keep the contract ------------------------------------------------------------- */

static void expect_right_run(const struct step *step, struct options options, bool emulated)
{
    options.seed = 1;
    struct outcome o = run_in_harness(step, &options, emulated);
    cr_expect(o.right, "step %d %s, n = %zu%s%s%s: %s%s %s", step->number,
              variant_name(step, options.variant), options.n, options.in_place ? ", in place" : "",
              options.offset ? ", displaced" : "", options.real ? ", real" : "", o.damage,
              o.verdict.cause, o.run);
    cr_expect_eq(o.timing.reps, options.reps);
    outcome_free(&o);
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

/* The part that differs on a GPU: the roof is measured. */
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

/* ---- wrong scans --------------------------------------------------------------------------- */

/* The harness rejects every deliberately wrong scan, and names the cause it can. */

#define REPS 5

static struct outcome outcome_of(const struct wrong *w)
{
    const struct options options = {.n = w->n,
                                    .seed = 1,
                                    .in_place = w->in_place,
                                    .offset = w->offset,
                                    .real = w->real,
                                    .reps = REPS};
    return run_in_harness(&w->step, &options, true);
}

Test(wrong, the_control_is_accepted)
{
    static const size_t sizes[] = {1, 2, 3, 128, 129, 640, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int real = 0; real < 2; real++) {
            struct wrong control = {.step = wrong_control, .n = sizes[i], .real = real};
            struct outcome o = outcome_of(&control);
            cr_expect(o.right, "n = %zu: %s%s", sizes[i], o.damage, o.verdict.cause);
            cr_expect_eq(o.verdict.wrong, 0);
            cr_expect_eq(o.verdict.checked, sizes[i]);
            cr_expect_eq(o.timing.reps, REPS);
            cr_expect_str_empty(o.run);
            outcome_free(&o);
        }
}

static void expect_cause(const struct wrong *w, const struct outcome *o)
{
    const char *cause = *o->damage ? o->damage : o->verdict.cause;
    if (w->cause)
        cr_expect(strstr(cause, w->cause), "%s: the cause named is \"%s\", not \"%s\"",
                  w->step.name, cause, w->cause);
    else
        cr_expect_str_empty(cause, "%s: a cause was named: \"%s\"", w->step.name, cause);
}

static void expect_run(const struct wrong *w, const struct outcome *o)
{
    if (w->run)
        cr_expect(strstr(o->run, w->run), "%s: wrong in \"%s\", not in \"%s\"", w->step.name,
                  o->run, w->run);
    else
        cr_expect_str_empty(o->run, "%s: wrong in \"%s\"", w->step.name, o->run);
}

Test(wrong, each_is_rejected_and_its_run_and_cause_named_slow)
{
    for (const struct wrong *w = wrong_scans; w->n; w++) {
        if (w->fault || w->checker) continue; /* see below */
        struct outcome o = outcome_of(w);
        cr_expect(!o.right, "%s was accepted", w->step.name);
        cr_expect_eq(o.timing.reps, 0, "%s: what is wrong is not timed", w->step.name);
        expect_cause(w, &o);
        expect_run(w, &o);
        outcome_free(&o);
    }
}

/* ---- as programs ----------------------------------------------------------------------------- */

/* Signals do what they do by default: whoever runs the tests may ignore some. */
#define PROGRAM "env --default-signal LD_LIBRARY_PATH=build/emu build/tests/wrong-scan "

static void expect_fault(const char *name, const char *options, size_t n, const char *fault)
{
    char command[200];
    snprintf(command, sizeof command, PROGRAM "%s --n %zu %s 2>&1", name, n, options);
    cr_expect(run_command(command) != 0, "%s: exit code 0:\n%s", name, output);
    cr_expect(strstr(output, fault), "%s: \"%s\" is not in:\n%s", name, fault, output);
}

Test(wrong, what_ends_the_program_says_so_and_exits_with_another_code_than_0)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("what ends the program is the sanitizer's to report");
#endif
    for (const struct wrong *w = wrong_scans; w->n; w++)
        if (w->fault) expect_fault(w->step.name, "--reps 5", w->n, w->fault);
}

/* memcheck finds loads, which guards do not show. */
Test(wrong, memcheck_finds_what_leaves_no_trace)
{
    for (const struct wrong *w = wrong_scans; w->n; w++) {
        if (!w->checker) continue;
        struct outcome o = outcome_of(w);
        cr_expect(o.right, "%s is found: it belongs to the others", w->step.name);
        outcome_free(&o);
        int code = run("$emu --tool memcheck --error-exitcode 9 build/tests/wrong-scan %s --n %zu"
                       " --reps 0 2>&1",
                       w->step.name, w->n);
        cr_expect_eq(code, 9, "%s: exit code %d:\n%s", w->step.name, code, output);
        cr_expect(strstr(output, w->checker), "%s:\n%s", w->step.name, output);
    }
}

Test(wrong, the_report_names_the_run)
{
    const char *name = "in_third_call";
    cr_expect_eq(run_command(PROGRAM "in_third_call --n 1000 --reps 12 2>&1"), EXIT_WRONG);
    cr_expect(strstr(output, "WRONG in timed run 1 of 12"), "%s:\n%s", name, output);
    cr_expect_eq(run_command(PROGRAM "in_third_call --n 1000 --reps 12 --json 2>&1"), EXIT_WRONG);
    cr_expect(strstr(output, "\"cause\": \"timed run 1 of 12: element 0 of the input was left out"),
              "%s:\n%s", name, output);
}

/* Scans that are wrong only in place, only displaced, or only for real numbers. */
Test(wrong, where_they_are_not_wrong_they_are_accepted)
{
    static const char *const names[] = {"wrong_in_place", "misaligned_loads", "doubles_in_float"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct wrong elsewhere = {.step = *wrong_find(names[i]), .n = 1000};
        struct outcome o = outcome_of(&elsewhere);
        cr_expect(o.right, "%s: %s%s", names[i], o.damage, o.verdict.cause);
        outcome_free(&o);
    }
}
