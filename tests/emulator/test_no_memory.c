/*
 * test_no_memory.c — programs in which one allocation fails, each allocation in one run. They go
 * on, or end with a message, but never by a signal. tests/fixtures/programs/no_memory.c makes the
 * allocations fail.
 */
#include "tests/support/command.h"
#include "tests/fixtures/programs/programs.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(no_memory, .init = command_init, .fini = command_fini);

enum { MOST_ALLOCATIONS = 3000, SIGNALLED = 128 };

/* Runs a command once for every `stride`-th of its allocations, which fails. */
static void fail_each(const char *command, int stride)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("AddressSanitizer has an allocator of its own");
#endif
    int at = 0;
    for (; at < MOST_ALLOCATIONS; at += stride) {
        int status = run("{ FAIL_AT=%d LD_PRELOAD=$p/no_memory.so LD_LIBRARY_PATH=build/emu %s; } "
                         "2>&1 </dev/null",
                         at, command);
        if (strstr(output, "no allocation failed\n")) break;
        cr_expect(status >= 0 && status < SIGNALLED, "%s: allocation %d: status %d:\n%s", command,
                  at, status, output);
        cr_expect(*output, "%s: allocation %d: status %d and nothing is said", command, at, status);
    }
    cr_expect(at > 0 && at < MOST_ALLOCATIONS, "%d allocations:\n%s", at, output);
}

Test(no_memory, a_program_that_is_counted_slow, .timeout = 300)
{
    fail_each("EMU_COUNTERS=lines $p/shared", 1);
    fail_each("EMU_CSV=1 $p/merged", 1);
}

Test(no_memory, a_program_that_is_checked_slow, .timeout = 300)
{
    fail_each("EMU_TOOL=all EMU_LEAK_CHECK=full $p/shared", 1);
    fail_each("EMU_TOOL=racecheck $pairs/memory memory-null right 2>&1", 1);
    fail_each("EMU_TOOL=all EMU_CHECK_LOG=$t/log $p/merged; cat $t/log", 1);
}
