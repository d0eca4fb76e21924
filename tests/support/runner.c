/*
 * runner.c — what belongs to the program of all tests. LeakSanitizer checks the processes of the
 * tests and the programs that they start, but not the runner: Criterion 2.4's leaks a few bytes
 * when a test with a .timeout ends while another runs. And the processor time of each test:
 * "suite/test SECONDS" is appended to the file that TEST_TIMES names. Criterion runs a test in a
 * process of its own; its processor time and that of the programs that it has run and waited for
 * hardly depend on what else the machine does.
 */
#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

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

static double seconds(int who)
{
    struct rusage used;
    if (getrusage(who, &used)) return 0;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* The linker calls it instead of Criterion's function that ends a test (tests.mk). */
void __real_criterion_internal_test_teardown(void);
void __wrap_criterion_internal_test_teardown(void);
void __wrap_criterion_internal_test_teardown(void)
{
    const char *path = getenv("TEST_TIMES");
    __real_criterion_internal_test_teardown();
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s/%s %.2f\n", criterion_current_test->category, criterion_current_test->name,
            seconds(RUSAGE_SELF) + seconds(RUSAGE_CHILDREN));
    fclose(file);
}
