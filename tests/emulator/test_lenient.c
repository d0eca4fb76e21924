/*
 * test_lenient.c — emu --lenient: faulty programs that the default stops go on as on a GPU, and
 * each fault is reported once (tests/fixtures/programs/lenient.cu).
 */
#include "tests/support/command.h"

#include <stdio.h>
#include <string.h>

TestSuite(lenient, .init = command_init, .fini = command_fini, .timeout = 120);

#define QUIET "--log-file /dev/null "

#define READ   "Invalid __global__ read of size 4 bytes"
#define HINTED "so does emu --lenient"

static const struct fault {
    const char *name;
    unsigned findings;
    const char *strict; /* said without --lenient */
    const char *said[2];
} faults[] = {
    {"stencil", 1, HINTED, {READ, "the access reads what is there"}},
    {"managed", 1, HINTED, {READ, "the access reads 0"}},
    {"unguarded", 2, HINTED, {"Invalid __global__ write of size 4 bytes", "is not carried out"}},
    {"leaves",
     1,
     HINTED,
     {"Barrier error detected. Divergent thread(s) in block.",
      "a barrier that not all threads reach: 98 wait here, 30 have exited"}},
    {"tile", 1, HINTED, {"Invalid __shared__ read of size 4 bytes", "of the 392 bytes of shared"}},
    {"vectors", 2, HINTED, {"Invalid __global__ write of size 16 bytes", "is carried out"}},
    {"bins", 1, HINTED, {"Invalid __global__ atomic of size 4 bytes", "is not carried out"}},
    {"unset", 0, "bytes before the allocation of 392 bytes", {"no error", "4753"}},
};
enum { FAULTS = sizeof faults / sizeof *faults };

static unsigned count(const char *text)
{
    unsigned times = 0;
    for (const char *at = output; (at = strstr(at, text)); at++) times++;
    return times;
}

Test(lenient, the_default_stops_and_names_the_option)
{
    for (size_t i = 0; i < FAULTS; i++) {
        const struct fault *f = &faults[i];
        expect_status(1, "$emu " QUIET "$p/lenient %s 2>&1", f->name);
        expect(f->strict);
    }
}

/* The report names the place, and the exit code is the program's. */
Test(lenient, a_fault_is_reported_once)
{
    for (size_t i = 0; i < FAULTS; i++) {
        const struct fault *f = &faults[i];
        char summary[60];
        expect_status(0, "$emu --lenient " QUIET "$p/lenient %s 2>&1", f->name);
        for (int k = 0; k < 2; k++) expect(f->said[k]);
        cr_assert_eq(count("emu:     --lenient: "), f->findings, "%s:\n%s", f->name, output);
        cr_assert_eq(count("lenient.cu:"), f->findings, "%s:\n%s", f->name, output);
        snprintf(summary, sizeof summary, "ERROR SUMMARY: %u error", f->findings);
        expect_status(0, "$emu --lenient --tool memcheck $p/lenient %s 2>&1", f->name);
        expect(summary);
        expect_status(0, "$emu --lenient --json $p/lenient %s 2>&1", f->name);
        cr_assert_eq(count("\"title\""), f->findings, "%s:\n%s", f->name, output);
    }
}

Test(lenient, reports_have_the_fault)
{
    expect_status(0,
                  "$emu --lenient --sarif $t/sarif --html $t/html " QUIET "$p/lenient tile 2>&1");
    expect_status(0, "cat $t/sarif");
    expect("Invalid __shared__ read of size 4 bytes");
    expect_status(0, "grep -A3 'Invalid __shared__ read of size 4 bytes' $t/html");
}

/* Whoever asks for an exit code wants to notice faults. */
Test(lenient, exit_codes)
{
    expect_status(9, "$emu --lenient --error-exitcode 9 " QUIET "$p/lenient tile 2>&1");
    expect_status(9, "$emu --lenient --error-exitcode 9 --tool synccheck $p/lenient tile 2>&1");
    expect_status(0, "$emu --lenient --error-exitcode 9 " QUIET "$p/lenient unset 2>&1");
    expect_status(9, "$emu --lenient --error-exitcode 9 --tool initcheck $p/lenient unset 2>&1");
    expect("Uninitialized __global__ memory read of size 4 bytes");
}

static const char *const tools[] = {"memcheck", "racecheck", "initcheck", "synccheck", "all"};
static const char *const gpus[] = {"h200", "h100", "a100", "t4", "rtx4090", "b200"};

/* Nothing but the fault is found, and nothing twice. */
Test(lenient, every_checker_and_model)
{
    for (size_t i = 0; i < FAULTS; i++)
        for (size_t k = 0; k < sizeof tools / sizeof *tools; k++) {
            const struct fault *f = &faults[i];
            bool is_init = k == 2 || k == 4;
            char summary[60];
            expect_status(0, "$emu --lenient --schedule %zu --tool %s $p/lenient %s 2>&1", k + 1,
                          tools[k], f->name);
            snprintf(summary, sizeof summary, "ERROR SUMMARY: %u error",
                     f->findings + (is_init && !f->findings));
            if (f->findings || k != 1) expect(summary);
        }
    for (size_t k = 0; k < sizeof gpus / sizeof *gpus; k++)
        expect_status(0, "$emu --lenient --gpu %s " QUIET "$p/lenient stencil 2>&1", gpus[k]);
}

/* A page that holds no allocation is not mapped. */
Test(lenient, what_a_gpu_does_not_let_pass)
{
    static const char *const cases[][2] = {
        {"far", "a store of 4 bytes at global address 0x3000020"}, {"null", "(a null pointer)"}};
    for (size_t i = 0; i < 2; i++)
        for (int lenient = 0; lenient < 2; lenient++) {
            expect_status(1, "$emu %s " QUIET "$p/lenient %s 2>&1", lenient ? "--lenient" : "",
                          cases[i][0]);
            expect("an illegal memory access was encountered");
            expect(cases[i][1]);
            expect_not(HINTED);
        }
}

/* The load of the last vectors and their store are one request each, as on a GPU. */
Test(lenient, what_is_counted)
{
    expect_status(0, "$emu --lenient --json --log-file /dev/stdout $p/lenient vectors 2>/dev/null");
    expect("\"global_load\": {\"requests\": 1,");
    expect("\"global_store\": {\"requests\": 1,");
    expect_status(0, "$emu --lenient --json --log-file /dev/stdout $p/lenient stencil 2>/dev/null");
    expect("\"global_load\": {\"requests\": 12,");
}
