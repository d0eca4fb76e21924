/*
 * test_architectures.c — the libraries of steps 12 to 16 run code for older GPUs on a newer one.
 * `make test-architectures` also compiles them for other architectures, and runs them on more GPUs.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"

TestSuite(architectures, .init = command_init, .fini = command_fini, .timeout = 240);

/* As if the programs held only PTX for compute_75. */
Test(architectures, code_for_a_t4_on_an_h200)
{
    expect_status(0, "EMU_PTX=75 $emu --log-file /dev/null build/architectures/usual/run 75 2>&1");
    expect("scan_pipeline                    9437185  right\n");
    expect("\nright\n");
}

/* The runtime says for which GPU the code is that it has chosen. A GPU runs machine code of its own
 * generation; of other PTX its driver makes some. */
Test(architectures, the_chosen_code)
{
    static const struct {
        const char *program, *setting, *code;
    } runs[] = {{"shared", "EMU_GPU=h200", "PTX 90, machine code 90\n"},
                {"shared", "EMU_GPU=h200 EMU_PTX=89", "PTX 75, machine code 90\n"},
                {"shared", "EMU_GPU=t4", "PTX 75, machine code 75\n"},
                {"shared", "EMU_GPU=rtx4090", "PTX 75, machine code 89\n"},
                {"shared", "EMU_GPU=b200", "PTX 90, machine code 100\n"},
                {"sm_80", "EMU_GPU=a100", "PTX 80, machine code 80\n"},
                {"sm_80", "EMU_GPU=rtx4090", "PTX 80, machine code 80\n"},
                {"sm_80", "EMU_GPU=h200", "PTX 80, machine code 90\n"}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        expect_status(0, "%s $emu --log-file /dev/null $p/%s 0 versions", runs[i].setting,
                      runs[i].program);
        expect(runs[i].code);
    }
}
