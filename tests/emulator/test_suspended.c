/*
 * test_suspended.c — kernels that the emulator has suspended because they wait for the host
 * (suspended.cu): which threads wait for them, and that they are in the reports however the program
 * ends.
 */
#include "tests/support/command.h"

TestSuite(suspended, .init = command_init, .fini = command_fini, .timeout = 60);

/* A host thread that waits for one device's kernel does not stop another device's. */
Test(suspended, kernels_of_two_devices_wait_for_each_other)
{
    expect_status(0, "EMU_TIMEOUT=5 timeout 30 $emu --devices 2 --log-file /dev/null "
                     "$p/suspended devices 2>&1");
    cr_assert_str_eq(output, "cudaSuccess\ncudaSuccess\n");
}

/* No thread goes on before the kernel has ended, whichever thread it ends in. */
Test(suspended, two_threads_wait_for_one_kernel)
{
    expect_status(0, "timeout 30 $emu --log-file /dev/null $p/suspended threads 2>&1");
    cr_assert_str_eq(output, "cudaSuccess, -1\ncudaSuccess, -1\n");
}

/* exit waits for the kernel; _exit and a signal end it, as they end one that runs. */
Test(suspended, what_nobody_waits_for_is_in_the_reports)
{
    static const struct {
        const char *end;
        int status;
    } ends[] = {{"return", 0}, {"exit", 0}, {"_exit", 0}, {"abort", 134}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        for (int form = 0; form < 2; form++) {
            expect_status(ends[i].status, "timeout 30 $emu %s $p/suspended left %s",
                          form == 0 ? "--csv" : "--json", ends[i].end);
            expect("\"work\"");
        }
    }
}

Test(suspended, a_wait_without_an_end_is_told_at_the_end_slow)
{
    expect_status(9, "EMU_TIMEOUT=1 timeout 30 $emu --tool memcheck --error-exitcode 9 "
                     "$p/suspended left never 2>&1");
    expect("deadlock: all blocks that have not ended wait in loops like this one");
    expect("suspended.cu:30");
    expect("ERROR SUMMARY: 1 error");
}

/* The thread that waits for the kernel cannot go on with it, because it is in the handler. */
Test(suspended, a_handler_may_end_the_program_while_the_host_waits_slow)
{
    expect_status(0, "timeout 30 $emu --csv $p/suspended left handler 2>&1");
}
