/*
 * test_promises.c — programs about the libraries of steps 12 to 16: those that test the promises of
 * step 12, on the emulator with few elements; the example of scan.h; and code for older GPUs on a
 * newer one. `make test-architectures` also compiles it for other architectures, and runs it on
 * more GPUs.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(promises, .init = command_init, .fini = command_fini, .timeout = 240);

/* The sum of a metric's values over all rows, and how many rows there are. */
static double sum_of(const char *metric, int *rows)
{
    char field[100];
    double sum = 0;
    *rows = 0;
    snprintf(field, sizeof field, ",%s,", metric);
    for (const char *at = output; (at = strstr(at, field)) != NULL; ++*rows)
        sum += strtod(at += strlen(field), NULL);
    return sum;
}

static void expect_sum(const char *metric, int rows_wanted, double sum_wanted)
{
    int rows;
    double sum = sum_of(metric, &rows);
    cr_expect(rows == rows_wanted && sum == sum_wanted, "%s: %g in %d rows, not %g in %d:\n%s",
              metric, sum, rows, sum_wanted, rows_wanted, output);
}

static void run_program(const char *name)
{
    expect_status(0, "build/promises/12-%s --device emu --csv 2>&1", name);
    expect("experiment,step,variant,parameter,metric,value,unit\n");
}

/* Two n for both types, and a third n for double only; numbers with a sign and without. */
Test(promises, same_bits_slow)
{
    enum { ROWS = 2 * (2 * 2 + 1) };
    int rows;
    run_program("same-bits");
    expect_sum("differ from the CPU", ROWS, 0);
    expect_sum("differ from the first", ROWS, 0);
    expect_sum("runs", ROWS, 2 * ROWS);
    cr_expect(sum_of("error", &rows) > 0 && rows == ROWS);
    cr_expect_gt(sum_of("bound", &rows), sum_of("error", &rows));
}

/* Six ways for four types, and three ways for the two types that cannot be in place. Types of 8
 * bytes have one more n, for scan_pipeline. */
Test(promises, every_way_slow)
{
    run_program("every-way");
    expect_sum("wrong", 4 * 6 + 2 * 3 + 2, 0);
}

/* Four streams, and a graph of each n. */
Test(promises, streams_slow)
{
    run_program("streams");
    expect_sum("wrong", 8, 0);
    expect_sum("scans", 8, 4 * 1 + 4 * 2);
}

/* Each of the kernels. On the emulator no SM can be held. */
Test(promises, beside_slow)
{
    run_program("beside");
    expect_sum("wrong", 5, 0);
    expect_sum("ended", 5, 5);
    expect("scan_wave,1000 beside 0 of 132,");
    expect("scan_onchip,");
    expect("scan_pipeline,");
}

/* ---- the example ----------------------------------------------------------------------------- */

Test(promises, example_slow)
{
    expect_status(0, "$emu --log-file /dev/null build/example");
    cr_expect_str_eq(output, "1 + 2 + 3 + … + 1000 = 500500\n");
}

/* Without a GPU, and without memory, the example prints one line that says so, and fails. */
Test(promises, example_says_what_failed_slow)
{
    expect_status(1, "CUDA_VISIBLE_DEVICES= build/example 2>&1 >/dev/null");
    cr_expect(strncmp(output, "cudaMalloc((void **)&device, sizeof host): ", 43) == 0);
    cr_expect(strchr(output, '\n') == output + strlen(output) - 1);
    expect_status(1, "EMU_MEMORY=1K $emu --log-file /dev/null build/example 2>&1");
    cr_expect_str_eq(output, "cudaMalloc((void **)&device, sizeof host): out of memory\n");
}

#define EXAMPLE "common/tools/library/examples/scan.c"

/* The example is short, and checks every call. */
Test(promises, example_is_short)
{
    expect_status(0, "sed -n '/^int main/,/^}/p' " EXAMPLE " | grep -c '[a-z;{]'");
    int lines = atoi(output);
    cr_expect(lines > 10 && lines <= 22, "%d lines", lines);
    expect_status(1, "grep -E '^ *(cuda|scan_)[A-Za-z0-9_]*\\(' " EXAMPLE);
}

/* ---- code for older GPUs --------------------------------------------------------------------- */

TestSuite(architectures, .init = command_init, .fini = command_fini, .timeout = 240);

/* As if the programs held only PTX for compute_75. */
Test(architectures, code_for_a_t4_on_an_h200_slow)
{
    expect_status(0, "EMU_PTX=75 $emu --log-file /dev/null build/architectures/usual/run 75 2>&1");
    expect("scan_pipeline                    9437185  right\n");
    expect("\nright\n");
}

/* The runtime says for which GPU the code is that it has chosen. A GPU runs machine code of its own
 * generation; of other PTX its driver makes some. */
Test(architectures, the_chosen_code_slow)
{
    RUNS({0, "EMU_GPU=h200 " QUIET "$p/shared 0 versions", {"PTX 90, machine code 90\n"}},
         {0, "EMU_GPU=h200 EMU_PTX=89 " QUIET "$p/shared 0 versions",
          {"PTX 75, machine code 90\n"}},
         {0, "EMU_GPU=t4 " QUIET "$p/shared 0 versions", {"PTX 75, machine code 75\n"}},
         {0, "EMU_GPU=rtx4090 " QUIET "$p/shared 0 versions", {"PTX 75, machine code 89\n"}},
         {0, "EMU_GPU=b200 " QUIET "$p/shared 0 versions", {"PTX 90, machine code 100\n"}},
         {0, "EMU_GPU=a100 " QUIET "$p/sm_80 0 versions", {"PTX 80, machine code 80\n"}},
         {0, "EMU_GPU=rtx4090 " QUIET "$p/sm_80 0 versions", {"PTX 80, machine code 80\n"}},
         {0, "EMU_GPU=h200 " QUIET "$p/sm_80 0 versions", {"PTX 80, machine code 90\n"}});
}
