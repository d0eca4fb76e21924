/* test_wrong.c — the verifier rejects every deliberately wrong scan, and names the cause it can. */
#include "tests/support/command.h"
#include "tests/support/scan_once.h"
#include "tests/cases/wrong/wrong.h"

#include <criterion/criterion.h>
#include <string.h>

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
