/*
 * test_experiments.c — the small experiments, steps/NN-name/experiments: on the emulator each finds
 * its results right, prints rows of the form that profiles/ keeps, and counts what it should.
 */
#define _GNU_SOURCE
#include "command.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "build/experiments/"

TestSuite(experiments, .init = command_init, .fini = command_fini);

static void run_experiment(const char *name)
{
    expect_status(0, FOLDER "%s --device emu --csv 2>&1", name);
}

/* The value of a row that the last command has printed. */
static double value(const char *variant, const char *parameter, const char *metric)
{
    char wanted[200];
    snprintf(wanted, sizeof wanted, ",%s,%s,%s,", variant, parameter, metric);
    const char *row = strstr(output, wanted);
    double found = 0;
    cr_assert(row && sscanf(row + strlen(wanted), "%lf", &found) == 1, "no row has %s in:\n%s",
              wanted, output);
    return found;
}

#define expect_value(variant, parameter, metric, wanted)                                           \
    cr_expect(value(variant, parameter, metric) == (wanted), "%s %s %s is %g, not %g", variant,    \
              parameter, metric, value(variant, parameter, metric), (double)(wanted))

/* Every experiment has a program, and each row of it has seven fields, of which the first two say
 * whose it is. */
Test(experiments, all_are_right)
{
    glob_t sources;
    cr_assert(glob("steps/*/experiments/*.cu", 0, NULL, &sources) == 0);
    for (size_t i = 0; i < sources.gl_pathc; i++) {
        char name[100], program[120], about[120], text[1 << 16];
        int step;
        cr_assert(sscanf(sources.gl_pathv[i], "steps/%d-%*[^/]/experiments/%99[^.]", &step, name) ==
                  2);
        snprintf(program, sizeof program, "%02d-%s", step, name);
        run_experiment(program);
        snprintf(text, sizeof text, "%s", output);
        snprintf(about, sizeof about, "%s,%d,", name, step);
        char *line = strtok(text, "\n");
        cr_expect_str_eq(line, "experiment,step,variant,parameter,metric,value,unit");
        while ((line = strtok(NULL, "\n")) != NULL) {
            int commas = 0;
            for (char *c = line; *c; c++) commas += *c == ',';
            cr_expect(strncmp(line, about, strlen(about)) == 0 && commas == 6, "%s: %s", program,
                      line);
        }
    }
    globfree(&sources);
}

/* Options, and what goes wrong with them. */
Test(experiments, options)
{
    expect_status(0, FOLDER "00-cache-operators --help 2>&1");
    expect("usage: build/experiments/00-cache-operators [OPTION]");
    expect_status(2, FOLDER "00-cache-operators --device 2>&1");
    expect("00-cache-operators: --device is no option, or lacks its value; see --help.");
    expect_status(2, FOLDER "00-cache-operators --device tpu 2>&1");
    expect("--device is tpu; it must be cuda or emu.");
    expect_status(0, "DEVICE=emu " FOLDER "00-cache-operators 2>&1");
    expect("00-cache-operators: What the cache operators of loads and stores cost\n\n"
           "  device  NVIDIA H200 (emulated)\n");
}

/* The operators change where data is kept, which is not modelled, and not which sectors are asked
 * for. */
Test(experiments, cache_operators)
{
    run_experiment("00-cache-operators");
    expect_value("ld_plain", "once", "sectors_ld", 8192 * 4 / 32);
    expect_value("ld_cv", "again", "sectors_ld", 64 * 8192 * 4 / 32);
    expect_value("st_wt", "once", "sectors_st", 8192 * 4 / 32);
}
