/*
 * leaks.c — the processes that LeakSanitizer checks: those of the tests and the programs that they
 * start, but not the runner. Criterion 2.4's runner leaks a few bytes when a test with a .timeout
 * ends while another runs.
 */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stdbool.h>

static bool is_runner; /* hooks run in the runner only, tests in processes of their own */

ReportHook(PRE_ALL)(struct criterion_test_set *tests)
{
    (void)tests;
    is_runner = true;
}

/* LeakSanitizer calls this when a process ends; 1: do not look for leaks. Other builds never call
 * it. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return is_runner; }
