/*
 * test_moved.c — a built tree that was copied or moved: it prints lines of its own files.
 */
#include "tests/support/command.h"

TestSuite(moved, .init = command_init, .fini = command_fini, .timeout = 60);

Test(moved, counters_name_the_lines_of_the_new_tree)
{
    expect_status(0, "cp -rL --parents step3 steps/03-work-efficient build/emu $t && cd $t && "
                     "sed -i 's/temp.bi. += temp.ai.;/& moved/' steps/03-work-efficient/scan.cu && "
                     "./step3 --device emu --counters 2>&1");
    expect(" steps/03-work-efficient/scan.cu:");
    expect("temp[bi] += temp[ai]; moved");
    expect_status(0, "cd $t && ./step3 --device emu --csv 2>&1");
    expect(",steps/03-work-efficient/scan.cu:");
}
