/*
 * test_limits.c — programs that have few addresses (ulimit -v) or little device memory, or make
 * very many allocations: limits.cu.
 */
#include "tests/support/command.h"

#include <stdio.h>

TestSuite(limits, .init = command_init, .fini = command_fini, .timeout = 120);

/* Megabytes of memory of the first device in the program's output. */
static long megabytes(void)
{
    long found = 0;
    cr_assert(sscanf(output, "device 0: %ld MB", &found) == 1, "%s", output);
    return found;
}

/* In kilobytes, as ulimit takes them. */
Test(limits, a_program_takes_less_memory_where_there_are_few_addresses)
{
    static const long limits[] = {300000, 1000000, 5000000, 20000000, 30000000};
    long before = 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        expect_status(0, "ulimit -v %ld; $emu --log-file /dev/null $p/limits 2>&1", limits[i]);
        expect("as its properties say, last value 131070\n");
        cr_expect_geq(megabytes(), before);
        cr_expect_geq(megabytes(), limits[i] / 1024 / 20, "%s", output);
        cr_expect_leq(megabytes(), limits[i] / 1024 / 8, "%s", output);
        before = megabytes();
    }
}

Test(limits, the_checkers_have_room_too)
{
    static const long limits[] = {300000, 2000000, 20000000};
    static const char *const tools[] = {"memcheck", "racecheck", "initcheck", "synccheck", "all"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (size_t k = 0; k < sizeof tools / sizeof *tools; k++) {
            expect_status(0, "ulimit -v %ld; $emu --tool %s --error-exitcode 9 $p/limits 2>&1",
                          limits[i], tools[k]);
            expect("last value 131070\n");
        }
}

Test(limits, every_one_of_many_devices_has_some)
{
    expect_status(0, "ulimit -v 20000000; $emu --devices 16 --log-file /dev/null $p/limits 2>&1");
    expect("device 15: ");
    cr_expect_geq(megabytes(), 64);
}

Test(limits, what_was_asked_for_is_given_or_refused)
{
    expect_status(0, "ulimit -v 20000000; EMU_MEMORY=100M $emu --log-file /dev/null $p/limits");
    cr_expect_eq(megabytes(), 100);
    expect_status(3, "ulimit -v 20000000; EMU_MEMORY=8G $emu --log-file /dev/null $p/limits 2>&1");
    expect_one_sentence();
    expect("no addresses for 8589934592 bytes of device memory: set EMU_MEMORY to fewer");
    expect_status(3, "ulimit -v 40000; $emu --devices 16 --log-file /dev/null $p/limits 2>&1");
    expect_one_sentence();
    expect("EMU_MEMORY");
}

/* 40 000 took 6 seconds when each call that frees searched all remaining allocations. */
Test(limits, very_many_allocations_slow)
{
    static const char *const ways[] = {"order", "reverse", "async"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        expect_status(0, "$emu --log-file /dev/null $p/limits 100000 %s", ways[i]);
        expect("100000 allocations\n");
    }
}
