/* test_grade_outcome.c — whose fault it is when a program in the sandbox was ended. */
#include "common/labs/grader/grader.h"

#include <criterion/criterion.h>
#include <string.h>

static struct outcome outcome;

/* Whether an ending says all, so that the program's own result does not count. */
static bool ends(enum sandbox_ending ending, int status, int descriptor)
{
    const struct sandbox_result result = {ending, status, descriptor};
    memset(&outcome, 0, sizeof outcome);
    return outcome_of_ending(&result, "bwrap: no\nmore", "the compiler", &outcome);
}

static void expect(enum outcome_kind kind, const char *why)
{
    cr_assert_eq(outcome.kind, kind);
    cr_assert_str_eq(outcome.why, why);
}

Test(grade_outcome, what_a_submission_makes_a_program_do_is_its_fault)
{
    cr_assert(ends(SANDBOX_OUTPUT, 0, SANDBOX_RESULTS));
    expect(OUTCOME_REFUSED,
           "With this file, the compiler leaves more bytes than any solution needs.");
    cr_assert(ends(SANDBOX_OUTPUT, 0, 2));
    expect(OUTCOME_REFUSED, "With this file, the compiler prints too many messages.");
    cr_assert(ends(SANDBOX_MEMORY, 0, 0));
    expect(OUTCOME_REFUSED, "With this file, the compiler needs too much memory.");
    cr_assert(ends(SANDBOX_IDLE, 0, 0));
    expect(OUTCOME_REFUSED, "With this file, the compiler waits for something that never comes.");
}

/* A busy machine, or a sandbox that does not start, costs no points. */
Test(grade_outcome, what_the_machine_does_is_the_graders_failure)
{
    cr_assert(ends(SANDBOX_WALL, 0, 0));
    expect(OUTCOME_FAILED,
           "The time for the compiler is over; this machine is too busy or too slow.");
    cr_assert(ends(SANDBOX_NOT_BEGUN, 1, 0));
    expect(OUTCOME_FAILED, "The sandbox did not start: bwrap: no");
    cr_assert(ends(SANDBOX_EXITED, 125, 0));
    expect(OUTCOME_FAILED, "The sandbox did not start: bwrap: no");
}

Test(grade_outcome, a_program_that_has_ended_by_itself_speaks_for_itself)
{
    cr_assert_not(ends(SANDBOX_EXITED, 0, 0));
    cr_assert_not(ends(SANDBOX_EXITED, 1, 0));
    cr_assert_not(ends(SANDBOX_EXITED, 139, 0));
}

/* 64 processors and 16 GiB are eight jobs of 2 GiB; there is always one. */
Test(grade_outcome, memory_bounds_the_number_of_jobs)
{
    const uint64_t gibibyte = 1 << 30;
    cr_expect_eq(jobs_within(64, 16 * gibibyte), 8);
    cr_expect_eq(jobs_within(4, 16 * gibibyte), 4);
    cr_expect_eq(jobs_within(4, gibibyte), 1);
    cr_expect_eq(jobs_within(4, 0), 1);
    cr_expect_eq(jobs_within(4, UINT64_MAX), 4);
    cr_expect_geq(jobs_here(), 1);
}
