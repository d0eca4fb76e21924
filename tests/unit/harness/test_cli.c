/*
 * test_cli.c — ./stepN as a user runs it: exit codes, files and records. What is refused is in
 * tests/cli/refusals.bats. Runs in the top folder of a built tree.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"
#include "common/step/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCREEN 30 /* lines */

static void make_folder(void)
{
    command_init();
    unsetenv("DEVICE");
}

TestSuite(cli, .init = make_folder, .fini = command_fini);

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* SIGPIPE ends a filter in silence. */
Test(cli, a_reader_of_stdout_that_has_enough_slow)
{
    static const char *const commands[] = {"./step0 --n 1000 --reps 0",
                                           "./step1 --n 1Mi --output -",
                                           "./step3 --help",
                                           "./step3 --quiz x",
                                           "./step3 --trace -",
                                           "./step5 --json",
                                           "./step14 --size 20x9 --box 3 --output -"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        int code = run("exec 2>&1; trap - PIPE; mkfifo $t/p; exec 3<>$t/p 4>$t/p 3>&-; rm $t/p;"
                       "%s >&4 4>&-",
                       commands[i]);
        cr_expect(code == 141 && !*output, "%s: %d\n%s", commands[i], code, output);
    }
}

Test(cli, a_report_that_cannot_be_written)
{
    expect_status(2, "./step1 --n 10 2>&1 >/dev/full");
    expect("cannot write the report to stdout.");
    expect_status(2, "(ulimit -f 16; ./step1 --n 1Mi --output $t/big) 2>&1");
    expect("too large");
}

/* ---- devices --------------------------------------------------------------------------------- */

Test(cli, no_gpu)
{
    if (access("/dev/nvidiactl", F_OK) == 0) cr_skip("this machine has an NVIDIA driver");
    expect_status(3, "./step3 --device cuda 2>&1");
    expect("step3: no NVIDIA driver is installed; --device emu");
    expect_status(3, "DEVICE=cuda ./step3 2>&1");
    expect_status(0, "DEVICE=cuda ./step3 --device emu");
    expect_status(0, "./step3");
    expect("(emulated) on the CPU: no NVIDIA driver is installed");
}

Test(cli, emulated_if_asked_for)
{
    expect_status(0, "./step3 --device emu");
    expect("emulated");
    expect("the emulator's own, not a GPU's");
    expect_not("GB/s"); /* an emulated time gives no rate */
    expect("375 in loads, 225 in stores");
}

/* A program in a folder without build/emu. */
Test(cli, no_emulator)
{
    int code = run("cp step3 $t; $t/step3 --device emu 2>&1");
    if (code == 127) cr_skip("the copy of step3 does not find CUDA's runtime");
    cr_expect_eq(code, 3, "%s", output);
    expect("build/emu/libcudart.so.13 is missing; `make emu` builds it");
}

/* ---- files ----------------------------------------------------------------------------------- */

Test(cli, the_documents_example)
{
    for (int step = 1; step <= 7; step++) {
        expect_status(0, "echo 3 1 7 0 4 1 6 3 | ./step%d --input - --output - 2>$t/report", step);
        cr_expect_str_eq(output, "0\n3\n4\n11\n11\n15\n16\n22\n", "step %d", step);
        expect_status(0, "grep -q Step $t/report");
        expect_status(0, "echo 3 1 7 0 4 1 6 3 | ./step%d --input - --output - --inclusive 2>&-",
                      step);
        cr_expect_str_eq(output, "3\n4\n11\n11\n15\n16\n22\n25\n", "step %d, inclusive", step);
    }
}

/* ---- reports --------------------------------------------------------------------------------- */

/* The keys of the JSON on stdin, which Python has to understand. */
#define KEYS                                                                                       \
    " | python3 -c 'import json, sys;"                                                             \
    " print(*json.load(sys.stdin, parse_constant=exit), sep=\",\")'"

Test(cli, json_and_csv_have_the_same_documented_keys)
{
    if (run("command -v python3")) cr_skip("python3 is missing: make setup installs it");
    for (int step = 1; step <= 7; step++) {
        expect_status(0,
                      "{ ./step%d --n 64 --json" KEYS " >$t/json && ./step%d --n 64 --csv >$t/csv "
                      "&& wc -l <$t/csv && head -n 1 $t/csv | cmp - $t/json; } 2>&1",
                      step, step);
        cr_expect_str_eq(output, "2\n");
    }
    run("for key in $(tr , ' ' <$t/json); do grep -qE \" $key(,| |$)\""
        " common/harness/report/report.h || echo $key; done; wc -c <$t/json");
    cr_expect(atoi(output) > 200, "common/harness/report/report.h does not explain %s", output);
}

Test(cli, the_report_fits_a_screen_and_has_no_colour_in_a_file_slow)
{
    for (int step = 0; step <= 7; step++) {
        expect_status(0, "./step%d 2>&1", step);
        cr_expect_leq(count_lines(output), SCREEN, "step %d", step);
        expect_not("\033");
    }
}

Test(cli, colour_on_a_terminal_unless_no_color)
{
    if (run("command -v script")) cr_skip("there is no script(1) to make a terminal with");
    run("TERM=xterm script -qec './step1 --n 10' /dev/null");
    expect("\033");
    run("NO_COLOR=1 TERM=xterm script -qec './step1 --n 10' /dev/null");
    expect_not("\033");
}

Test(cli, help_and_version)
{
    for (int step = 0; step <= 7; step++) {
        expect_status(0, "./step%d --help", step);
        expect("--n N");
        expect("Exit code: 0 right, 1 wrong result");
        expect_status(0, "./step%d --version", step);
        expect("Upsweep " PROGRAM_VERSION);
        cr_expect_eq(count_lines(output), 1);
    }
}

/* ---- a wrong result -------------------------------------------------------------------------- */

#define WRONG "LD_LIBRARY_PATH=build/emu build/tests/wrong-scan "

/* Its time means nothing, and it is not written. */
Test(cli, a_wrong_result_is_exit_code_1)
{
    expect_status(1, WRONG "swapped_neighbours --n=1000 --output=$t/out.txt");
    expect("WRONG");
    expect("likely cause: neighbours were swapped, first 0 and 1");
    expect_not("median");
    expect_status(0, "ls $t");
    cr_expect_str_empty(output);
}

/* The emulator's findings become a sentence and exit code 3. */
Test(cli, a_fault_in_a_kernel_is_exit_code_3)
{
    expect_status(3, WRONG "writes_far_away --n=16 2>&1");
    expect("writes_far_away"); /* the kernel */
    expect("(cudaErrorIllegalAddress)");
}
