/*
 * test_endless.c — programs that do not end by themselves: Ctrl-C, and the time limits. The
 * programs are built from endless.cu.
 */
#include "tests/support/command.h"
#include "tests/fixtures/programs/programs.h"

#include <string.h>

TestSuite(endless, .init = command_init, .fini = command_fini, .timeout = 600);

/* Sends Ctrl-C a while after the program has begun to catch it (bit 1 of SigCgt), even on a busy
 * machine. The status is the program's. A shell makes programs in the background ignore SIGINT;
 * `env` undoes that. */
#define INTERRUPT(program)                                                                         \
    "env --default-signal=INT " program " 2>&1 & "                                                 \
    "while kill -0 $! && ! grep -q 'SigCgt:.*[2367abef]$' /proc/$!/status; do sleep 0.05; done; "  \
    "sleep 0.5; kill -INT $!; wait $!"

Test(endless, ctrl_c_in_a_kernel_says_where_it_was)
{
    expect_status(130, INTERRUPT("$emu --csv $p/endless count"));
    expect("begun\n"); /* the output of the program is not lost */
    expect("emu: interrupted, at ");
    expect("endless.cu:24 (PTX line ");
    expect(" in kernel count, block (0,0,0), thread (0,0,0)\n");
    expect("\"twice\""); /* the counters so far */
    expect("\"count\"");
}

Test(endless, ctrl_c_without_a_report_prints_none)
{
    expect_status(130, INTERRUPT("LD_LIBRARY_PATH=$(dirname $emu) $p/endless blocks"));
    expect("emu: interrupted, ");
    expect(" kernel twice");
    expect_not("emulated: ");
}

Test(endless, ctrl_c_while_no_kernel_runs)
{
    expect_status(130, INTERRUPT("$emu $p/endless host"));
    expect("emu: interrupted; no kernel was running\n");
    expect("] endless: 1 launch on an emulated");
}

Test(endless, a_handler_of_the_programs_own_stays)
{
    expect_status(7, INTERRUPT("$emu $p/endless handler"));
    expect_not("interrupted");
}

/* A signal that the shell has made a background process ignore stays ignored. */
Test(endless, an_ignored_signal_stays_ignored)
{
    expect_status(1, "EMU_KERNEL_TIMEOUT=1 $emu $p/endless count 2>&1 & sleep 0.5; kill -INT $!; "
                     "wait $!");
    expect("cudaErrorLaunchTimeout\n");
    expect_not("interrupted");
}

Test(endless, a_kernel_ends_at_the_limit_slow)
{
    expect_status(1, "EMU_KERNEL_TIMEOUT=1 $emu --log-file /dev/null $p/endless count 2>&1");
    expect("emu: its grid has run for 1 seconds, and EMU_KERNEL_TIMEOUT allows no more, at ");
    expect("endless.cu:24");
    expect("cudaErrorLaunchTimeout\n");
    expect_status(1, "EMU_KERNEL_TIMEOUT=1 $emu --log-file /dev/null $p/endless blocks 2>&1");
    expect("cudaErrorLaunchTimeout\n");
    expect_status(2, "EMU_KERNEL_TIMEOUT=soon $emu --log-file /dev/null $p/endless count 2>&1");
    expect_one_sentence();
}

/* Whatever a loop does, it ends at a few times EMU_TIMEOUT. */
Test(endless, a_loop_that_changes_memory_ends_too_slow)
{
    static const char *const kinds[] = {"count", "barrier", "print", "grid"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        expect_status(1,
                      "EMU_TIMEOUT=1 timeout 30 $emu --log-file /dev/null $p/endless %s "
                      "2>&1 >/dev/null",
                      kinds[i]);
        expect("EMU_TIMEOUT");
    }
}

/* A kernel that waits for the host is suspended, until the host waits for it. */
Test(endless, the_host_may_end_a_wait_slow)
{
    static const char *const options[] = {"--csv", "--tool memcheck,racecheck,synccheck",
                                          "--schedule 3 --tool racecheck"},
                             *const ways[] = {"flag", "copied"};
    for (int i = 0; i < 3; i++)
        for (int way = 0; way < 2; way++) {
            expect_status(0, "EMU_TIMEOUT=5 timeout 30 $emu --error-exitcode 9 %s $p/endless %s",
                          options[i], ways[way]);
            expect("cudaErrorNotReady, cudaSuccess, cudaSuccess\n");
        }
    expect_status(0, "timeout 30 $emu --csv $p/endless flag");
    expect("\"wait_for\"");
}

/* Kernels run one after the other. If a kernel waits for another one, or for the host while the
 * host waits for it, a message says that this cannot work. */
Test(endless, waiting_for_the_host_or_another_kernel_slow)
{
    static const char *const ways[] = {"late", "streams"};
    for (int i = 0; i < 2; i++) {
        expect_status(1, "EMU_TIMEOUT=1 $emu --log-file /dev/null $p/endless %s 2>&1", ways[i]);
        expect("endless.cu:50");
        expect("emu: kernels run one after the other here");
        expect("cudaErrorLaunchTimeout\n");
    }
}
