/*
 * test_emu_messages.c — the exact messages with which build/emu/emu refuses a command: the wrong
 * option or program, its value, and the allowed values.
 */
#include "tests/support/command.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(emu_messages, .init = command_init, .fini = command_fini);

/* Runs the command with these arguments; it must end with status 2 and write this sentence. */
static void expect_refusal(const char *arguments, const char *sentence)
{
    char whole[1000];
    cr_assert_lt(snprintf(whole, sizeof whole, "emu: %s\n", sentence), (int)sizeof whole);
    expect_status(2, "$emu %s </dev/null 2>&1", arguments);
    cr_expect_str_eq(output, whole, "emu %s", arguments);
}

#define SEE_HELP "; see emu --help"

Test(emu_messages, values_of_options)
{
    static const char *const refusals[][2] = {
        {"--gpu voodoo2 x", "there is no model \"voodoo2\"" SEE_HELP},
        {"--model voodoo2 x", "there is no set of rules \"voodoo2\"" SEE_HELP},
        {"--threads 0 x", "--threads takes a number from 1 to 1024, not \"0\""},
        {"--threads 1025 x", "--threads takes a number from 1 to 1024, not \"1025\""},
        {"--threads 2x x", "--threads takes a number from 1 to 1024, not \"2x\""},
        {"--threads '' x", "--threads takes a number from 1 to 1024, not \"\""},
        {"--threads 99999999999999999999 x",
         "--threads takes a number from 1 to 1024, not \"99999999999999999999\""},
        {"--devices 17 x", "--devices takes a number from 1 to 16, not \"17\""},
        {"--page details x", "--page takes raw or source, not \"details\""},
        {"--error-exitcode 256 x", "--error-exitcode takes a number from 0 to 255, not \"256\""},
        {"--error-exitcode ' 1' x", "--error-exitcode takes a number from 0 to 255, not \" 1\""},
        {"--error-exitcode 1x x", "--error-exitcode takes a number from 0 to 255, not \"1x\""},
        {"--print-limit 1000001 x",
         "--print-limit takes a number from 0 to 1000000, not \"1000001\""},
        {"--schedule 18446744073709551616 x", "--schedule takes a number from 0 to "
                                              "18446744073709551615, not \"18446744073709551616\""},
        {"--leak-check yes x", "--leak-check takes full or no, not \"yes\""},
        {"--report-api-errors all x", "--report-api-errors takes explicit or no, not \"all\""},
        {"--blocks up x", "--blocks takes ascending or descending, not \"up\""},
        {"--tool leakcheck x", "--tool takes memcheck, racecheck, initcheck, synccheck, several "
                               "with commas between, or all, not \"leakcheck\""},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        expect_refusal(refusals[i][0], refusals[i][1]);
}

/* The greatest and the smallest value that each option takes. */
Test(emu_messages, limits_are_taken)
{
    static const char *const options[] = {
        "--threads 1",        "--threads 1024",
        "--devices 16",       "--error-exitcode 255",
        "--error-exitcode 0", "--tool all --print-limit 1000000",
        "--leak-check full",  "--schedule 18446744073709551615",
        "--blocks ascending", "--report-api-errors explicit",
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        expect_status(0, "$emu %s --log-file $t/log $p/shared 2>&1", options[i]);
}

Test(emu_messages, options_that_are_none)
{
    expect_refusal("--no-such-option x", "there is no option --no-such-option" SEE_HELP);
    expect_refusal("--csv -q x", "there is no option -q" SEE_HELP);
    expect_refusal("--csv --gpu", "--gpu needs a value; --help says which.");
    expect_refusal("--csv=1 x", "--csv takes no value, but was given \"1\".");
    expect_refusal("--gpux t4 x", "there is no option --gpux" SEE_HELP);
    expect_refusal("--csv", "which program? usage: emu [options] COMMAND [arguments]");
    expect_refusal("--tool all --csv x",
                   "--tool checks and does not count: leave --csv, --launches, --metrics, --page, "
                   "--per-line and --kernel-name away");
    expect_status(2, "$emu -k 'regex:(' x 2>&1");
    expect("emu: --kernel-name regex:( is not a regular expression: ");
}

Test(emu_messages, programs_that_are_none)
{
    static const char *const refusals[][2] = {
        {"./none", "cannot run ./none: No such file or directory"},
        {"no-such-program", "there is no program no-such-program in PATH"},
        {"tests/fixtures/programs/kernels.cu",
         "cannot run tests/fixtures/programs/kernels.cu: Permission denied"},
        {"/tmp", "/tmp is not a program (ELF) for this machine, nor a script"},
        {"--report common/build/setup.sh",
         "common/build/setup.sh is not a program (ELF) for this machine"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        expect_refusal(refusals[i][0], refusals[i][1]);
    expect_status(2, "cd $t && cp /bin/ls mine && $OLDPWD/$emu mine 2>&1");
    expect("emu: mine is not in PATH; for the one in this folder say ./mine\n");
    expect_status(2, "$emu --report /bin/ls 2>&1");
    expect("holds no PTX that an emulated NVIDIA H200 could run\n");
    expect_one_sentence();
}
