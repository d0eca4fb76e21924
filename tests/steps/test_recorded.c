/*
 * test_recorded.c — what ncu counted on an H200 (profiles/h200/counters.csv) and what the emulator
 * counts are exactly the same, for every launch and every source line of every scan in that file,
 * except for the differences that recorded_differences.c explains.
 */
#define _GNU_SOURCE
#include "recorded.h"
#include "tests/support/recording.h"
#include "tests/support/scan_once.h"

#include "common/harness/run/runs.h"
#include "common/step/cuda_check.h"
#include "common/step/element.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* Steps that apply scan are recorded, too: tests/docs/test_applications.py compares them. */
enum { LAST_RECORDED = 12 };

enum { ONE_BLOCK = 2048, LARGE = 65537 };

/* ---- one scan -------------------------------------------------------------------------------- */

/* The scan whose rows are being compared. */
static struct {
    const struct step *step;
    int variant;
    size_t n;
} scan;

static void choose(const struct recording *r)
{
    scan.step = scan_step(atoi(r->cells[STEP]));
    scan.n = strtoul(r->cells[N], NULL, 10);
    scan.variant = 0;
    while (strcmp(r->cells[VARIANT], "-") != 0 &&
           strcmp(r->cells[VARIANT], variant_name(scan.step, scan.variant)) != 0)
        cr_assert(++scan.variant < variant_count(scan.step), "step %s has no variant %s",
                  r->cells[STEP], r->cells[VARIANT]);
}

/* Allocates this number of bytes on the device and clears them. */
static void *zeros(size_t bytes)
{
    void *room = NULL;
    cr_assert(cudaMalloc(&room, bytes) == cudaSuccess && cudaMemset(room, 0, bytes) == cudaSuccess);
    return room;
}

/* Runs it under the emulator, which keeps a record of each launch. The elements are zeros: no
 * count depends on them. */
static void run(void)
{
    const struct step *step = scan.step;
    enum element element = step->elements ? step->elements[scan.variant] : step->element;
    void *in = zeros(scan.n * element_size(element));
    void *out = zeros(scan.n * element_size(element_of_sum(element)));
    void *workspace = step->workspace ? zeros(step->workspace(scan.n, scan.variant) + 1) : NULL;
    struct emu *emu = counters_emulator();

    emu_forget(emu);
    emu_count(emu, true);
    cr_assert(step->scan(out, in, scan.n, scan.variant, workspace, NULL) == cudaSuccess);
    cr_assert(cudaDeviceSynchronize() == cudaSuccess);
    emu_count(emu, false);
    cudaFree(in);
    cudaFree(out);
    cudaFree(workspace);
}

static const struct emu_launch_record *launch_of(const struct number *number)
{
    struct emu *emu = counters_emulator();
    const char *const *f = number->fields;
    size_t launch = strtoul(f[LAUNCH], NULL, 10);
    cr_assert(launch < emu_records(emu), "step %s %s, n = %s: no launch %s", f[STEP], f[VARIANT],
              f[N], f[LAUNCH]);
    return emu_record(emu, launch);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void compare(const struct number *number, double recorded, double counted, double polled)
{
    const char *const *f = number->fields;
    struct expected expected =
        expect_of(number, scan.step, scan.variant, launch_of(number), counted, polled);
    double more = recorded - expected.least;
    cr_expect(recorded >= expected.least && recorded <= expected.most &&
                  (expected.grain == 0 || fmod(more, expected.grain) == 0),
              "step %s %s, n = %s, launch %s (%s) %s: %s is %.15g on the GPU and %.15g here (from "
              "%.15g to %.15g expected)",
              f[STEP], f[VARIANT], f[N], f[LAUNCH], f[KERNEL], f[LINE], f[METRIC], recorded,
              counted, expected.least, expected.most);
}

/* A ratio, which ncu prints with two digits, equals that of the two counts before it in its row. */
static void compare_ratio(const struct number *number, double sectors, double requests)
{
    const char *const *f = number->fields;
    double recorded = strtod(f[VALUE], NULL), ratio = requests ? sectors / requests : 0;
    cr_expect(fabs(recorded - ratio) <= 0.00501,
              "step %s %s, n = %s, launch %s: %s is %s and not %g", f[STEP], f[VARIANT], f[N],
              f[LAUNCH], f[METRIC], f[VALUE], ratio);
}

static void compare_total(const struct number *number)
{
    static double last[2][2]; /* sectors and requests, loads and stores */
    const char *name = number->fields[METRIC];
    const struct emu_launch_record *record = launch_of(number);
    const struct line_group *polls = polls_of(number);
    double recorded = strtod(number->fields[VALUE], NULL);
    bool store = strstr(name, "_st.") != NULL;

    if (strcmp(name, SECTORS("ld")) == 0 || strcmp(name, SECTORS("st")) == 0)
        last[store][0] = recorded;
    if (strcmp(name, REQUESTS("ld")) == 0 || strcmp(name, REQUESTS("st")) == 0)
        last[store][1] = recorded;
    if (strstr(name, ".ratio") != NULL) {
        compare_ratio(number, last[store][0], last[store][1]);
        return;
    }
    bool polled = strcmp(name, REQUESTS("ld")) == 0 || strcmp(name, SECTORS("ld")) == 0;
    compare(number, recorded, metric_of(&record->total, name),
            polls != NULL && polled ? counts_of_group(polls, record, name) : 0);
}

static void compare_line(const struct number *number)
{
    const char *const *f = number->fields;
    double recorded = strtod(f[VALUE], NULL);
    const struct emu_counts *counts = counts_of_line(launch_of(number), f[LINE], f[SOURCE]);
    cr_expect(counts != NULL || recorded == 0, "step %s %s: '%s' is no line any more", f[STEP],
              f[VARIANT], f[SOURCE]);
    compare(number, recorded, counts != NULL ? metric_of(counts, f[METRIC]) : 0, 0);
}

/* Recorded counts of lines that are compared together, by group, launch and metric. */
static struct sum {
    const struct line_group *group;
    struct number first; /* of them */
    char text[1024];
    double recorded;
} sums[256];
static size_t sum_count;

static void add_to_sums(const struct number *number, const struct line_group *group)
{
    size_t i = 0;
    while (i < sum_count && (sums[i].group != group ||
                             strcmp(sums[i].first.fields[LAUNCH], number->fields[LAUNCH]) != 0 ||
                             strcmp(sums[i].first.fields[METRIC], number->fields[METRIC]) != 0))
        i++;
    if (i == sum_count) {
        cr_assert(++sum_count <= LENGTH(sums));
        sums[i].group = group;
        sums[i].recorded = 0;
        char *to = sums[i].text;
        for (int k = 0; k < FIELDS; k++) {
            sums[i].first.fields[k] = to;
            to = stpcpy(to, number->fields[k]) + 1;
        }
    }
    sums[i].recorded += strtod(number->fields[VALUE], NULL);
}

static void compare_sums(void)
{
    for (size_t i = 0; i < sum_count; i++) {
        const struct sum *sum = &sums[i];
        double counted =
            counts_of_group(sum->group, launch_of(&sum->first), sum->first.fields[METRIC]);
        compare(&sum->first, sum->recorded, counted, sum->group->polls ? counted : 0);
    }
    sum_count = 0;
}

static void compare_number(const struct number *number)
{
    const struct line_group *group = group_of(number);
    if (group != NULL)
        add_to_sums(number, group);
    else if (number->fields[LINE][0])
        compare_line(number);
    else
        compare_total(number);
}

/* ---- the recording --------------------------------------------------------------------------- */

static void open_recording(struct recording *r)
{
    static const char *const first[METRIC] = {"step",   "variant", "n",     "kernel",
                                              "launch", "line",    "source"};
    recording_open(r, RECORDED);
    cr_assert(r->columns > METRIC);
    for (size_t i = 0; i < METRIC; i++) cr_assert_str_eq(r->names[i], first[i]);
}

/* Compares the numbers of the row that was read last. Returns how many there are. */
static size_t compare_row(const struct recording *r)
{
    struct number number;
    size_t numbers = 0;
    memcpy(number.fields, r->cells, METRIC * sizeof *number.fields);
    for (size_t i = METRIC; i < r->columns; i++) {
        if (!r->cells[i][0]) continue;
        number.fields[METRIC] = r->names[i];
        number.fields[VALUE] = r->cells[i];
        compare_number(&number);
        numbers++;
    }
    return numbers;
}

/* Compares the scans of at least `least` and less than `below` elements. */
static void compare_all(size_t least, size_t below)
{
    char last[128] = "", name[128];
    size_t numbers = 0;
    bool steps[100] = {false};
    struct recording r;

    cr_assert(cuda_emulated(), "these tests need the emulator");
    open_recording(&r);
    while (recording_next(&r)) {
        int step = atoi(r.cells[STEP]);
        if (step > LAST_RECORDED) continue;
        size_t n = strtoul(r.cells[N], NULL, 10);
        cr_assert(step >= 2 && step < (int)LENGTH(steps), "step %d", step);
        if (n < least || n >= below) continue;
        steps[step] = true;

        /* Rows of one scan follow each other. */
        snprintf(name, sizeof name, "%s %s %s", r.cells[STEP], r.cells[VARIANT], r.cells[N]);
        if (strcmp(name, last) != 0) {
            compare_sums();
            choose(&r);
            run();
        }
        strcpy(last, name);
        numbers += compare_row(&r);
    }
    compare_sums();
    for (int i = least > ONE_BLOCK ? 5 : 2; i <= LAST_RECORDED; i++) /* step 1 runs on the CPU */
        cr_expect(steps[i], "%s has no row of step %d", RECORDED, i);
    cr_expect(numbers > 0);
}

/* With one host thread, no block of step 12 waits so long for another that it makes up its sum. */
Test(recorded, emulator_counts_as_ncu_did_up_to_64_Ki_slow)
{
    cr_assert(setenv("EMU_THREADS", "1", 1) == 0);
    compare_all(0, LARGE);
}

Test(recorded, emulator_counts_as_ncu_did_for_large_scans_slow, .timeout = 600)
{
    if (getenv("TEST_NIGHTLY") == NULL) cr_skip_test("it takes a minute: make test-nightly has it");
    compare_all(LARGE, SIZE_MAX);
}
