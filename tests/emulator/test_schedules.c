/*
 * test_schedules.c — right programs under many schedules, numbers of host threads and tools: no run
 * hangs, fails, or has a finding. tests/emulator/schedules.sh says which.
 */
#include "tests/support/command.h"

#include <stdlib.h>

TestSuite(schedules, .init = command_init, .fini = command_fini, .timeout = 7200);

Test(schedules, right_programs_stay_right_slow)
{
    const char *runs = getenv("TEST_NIGHTLY") != NULL ? "all" : "sample";
    expect_status(
        0, "EMU=$emu BUILT=$(dirname $(dirname $emu)) tests/emulator/schedules.sh %s 2>&1", runs);
    expect(" 0 hang, 0 fail, 0 with findings\n");
}
