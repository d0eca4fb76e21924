/* test_wrong.c — the verifier rejects every deliberately wrong scan, and names the cause it can. */
#include "command.h"
#include "common/bench.h"
#include "wrong/wrong.h"

#include <criterion/criterion.h>
#include <string.h>

/* Runs a step through the path of ./stepN and says what came of it. */
static struct outcome outcome_of(const struct step *step, size_t n, bool in_place, bool real)
{
    struct options options = {.n = n, .seed = 1, .in_place = in_place, .real = real, .reps = 2};
    struct fault fault = {0};
    struct input input;
    struct bench bench;
    struct outcome outcome;
    cr_assert_eq(input_generate(&input, step->element, n, real, options.seed, &fault), 0);
    int code = bench_open(&bench, step, &options, &input, counters_emulated(), &fault);
    cr_assert_eq(code, 0, "%s: %s", step->name, fault.text);
    code = bench_run(&bench, &outcome, &fault);
    cr_assert_eq(code, 0, "%s: %s", step->name, fault.text);
    bench_close(&bench);
    input_free(&input);
    return outcome;
}

Test(wrong, the_control_is_accepted)
{
    static const size_t sizes[] = {1, 2, 3, 128, 129, 640, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int real = 0; real < 2; real++) {
            struct outcome o = outcome_of(&wrong_control, sizes[i], false, real);
            cr_expect(o.right, "n = %zu: %s%s", sizes[i], o.damage, o.verdict.cause);
            cr_expect_eq(o.verdict.wrong, 0);
            cr_expect_eq(o.verdict.checked, sizes[i]);
            cr_expect_eq(o.timing.reps, 2);
            cr_expect(o.after_timing);
            outcome_free(&o);
        }
}

Test(wrong, there_are_at_least_15)
{
    size_t count = 0;
    while (wrong_scans[count].n) count++;
    cr_expect_geq(count, 15);
}

Test(wrong, each_is_rejected_and_its_cause_named)
{
    for (const struct wrong *w = wrong_scans; w->n; w++) {
        if (w->fault) continue; /* see below */
        struct outcome o = outcome_of(&w->step, w->n, w->in_place, w->real);
        const char *cause = *o.damage ? o.damage : o.verdict.cause;
        cr_expect(!o.right, "%s was accepted", w->step.name);
        if (w->cause)
            cr_expect(strstr(cause, w->cause), "%s: the cause named is \"%s\", not \"%s\"",
                      w->step.name, cause, w->cause);
        else
            cr_expect_str_empty(cause, "%s: a cause was named: \"%s\"", w->step.name, cause);
        outcome_free(&o);
    }
}

/* A result that is right only the first time is caught by the check after the timed runs. */
Test(wrong, what_the_timed_runs_leave_is_checked)
{
    for (const struct wrong *w = wrong_scans; w->n; w++) {
        if (strcmp(w->step.name, "first_run_only") != 0) continue;
        struct outcome o = outcome_of(&w->step, w->n, w->in_place, w->real);
        cr_expect(!o.right);
        cr_expect(o.after_timing);
        outcome_free(&o);
        return;
    }
    cr_assert_fail("first_run_only is not in the list");
}

/* ---- as programs ----------------------------------------------------------------------------- */

#define PROGRAM "LD_LIBRARY_PATH=build/emu build/tests/wrong-scan "

static void expect_fault(const char *name, const char *options, size_t n, const char *fault)
{
    char command[200];
    snprintf(command, sizeof command, PROGRAM "%s --n %zu %s 2>&1", name, n, options);
    cr_expect(run_command(command) != 0, "%s: exit code 0:\n%s", name, output);
    cr_expect(strstr(output, fault), "%s: \"%s\" is not in:\n%s", name, fault, output);
}

Test(wrong, what_ends_the_program_says_so_and_exits_with_another_code_than_0)
{
    for (const struct wrong *w = wrong_scans; w->n; w++)
        if (w->fault) expect_fault(w->step.name, "--reps 5", w->n, w->fault);
}
