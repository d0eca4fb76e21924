/*
 * test_experiments.c — the small experiments, steps/NN-name/experiments: on the emulator each
 * confirms its results, prints the rows of which profiles/measure/cases.py makes recordings, and
 * has the expected counts. Of step 9's, the right ways are right in any order of the lanes, and the
 * wrong ways are caught: by the result, by another order, or by a checker.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Values that the rows of a program have to have. */
#define ABSENT (-1) /* there is no such row */
static const struct {
    const char *program, *variant, *parameter, *metric;
    double value;                          /* or, if `of` is given, how many times … */
    const char *of_variant, *of_parameter; /* … that of this row */
} known[] = {
    /* The operators change in which cache data is kept, which is not modelled. They do not change
     * which sectors are requested. */
    {"00-cache-operators", "ld_plain", "once", "sectors_ld", .value = 8192 * 4 / 32},
    {"00-cache-operators", "ld_cv", "again", "sectors_ld", .value = 64 * 8192 * 4 / 32},
    {"00-cache-operators", "st_wt", "once", "sectors_st", .value = 8192 * 4 / 32},

    /* The constant cache is not modelled. Through the read-only path, words of one line lie in few
     * sectors and words of different lines in one each; 8192 warps look up. */
    {"00-constant-cache", "read-only", "1", "sectors_ld", .value = 8192},
    {"00-constant-cache", "read-only", "32", "sectors_ld", .value = 4 * 8192},
    {"00-constant-cache", "read-only-spread", "32", "sectors_ld", .value = 32 * 8192},
    {"00-constant-cache", "constant", "32", "sectors_ld", .value = ABSENT},

    /* In the emulator's usual order the last lane and the last warp win. */
    {"00-one-wins", "lanes", "32", "most_often", .value = 31},
    {"00-one-wins", "warps", "32", "wins_of_that", .value = 100},

    /* The naive scan in one array is wrong; the second barrier makes it right without another
     * wavefront. */
    {"02-in-place", "two-arrays", "1024", "wrong_of_100", .value = 0},
    {"02-in-place", "two-barriers", "1024", "wrong_of_100", .value = 0},
    {"02-in-place", "no-barrier", "1024", "wrong_of_100", .value = 100},
    {"02-in-place", "two-barriers", "1024", "wavefronts_ld", 1, "two-arrays", "1024"},
    {"02-in-place", "two-arrays", "1024", "barriers", .value = 32 * 11},
    {"02-in-place", "two-barriers", "1024", "barriers", .value = 32 * 21},

    /* All ways of launching give the same scans. */
    {"05-small-scans", "8-streams", "1024", "wavefronts_ld", 1, "1-stream", "1024"},
    {"05-small-scans", "32-streams", "1024", "wavefronts_ld", 1, "1-stream", "1024"},
    {"05-small-scans", "1-launch", "1024", "wavefronts_ld", 1, "1-stream", "1024"},

    /* A double needs twice the sectors, and twice the wavefronts except in warps with only half of
     * the lanes active. */
    {"06-precision", "copy", "double", "sectors_ld", 2, "copy", "float"},
    {"06-precision", "block-scan", "double", "wavefronts_st", 2, "block-scan", "float"},

    /* A quarter of the requests for the same number of sectors. */
    {"06-bytes-under-way", "float4", "8", "sectors_ld", 1, "float", "64"},
    {"06-bytes-under-way", "float4", "8", "requests_ld", 0.25, "float", "64"},

    /* A word comes from shared memory, with one wavefront per warp, or again from global memory,
     * with four sectors: 2 * 6 Ki words, in 32 rounds. */
    {"07-carve-out", "in-shared", "50", "wavefronts_ld", .value = 32 * (12 << 10) / 32},
    {"07-carve-out", "in-shared", "50", "sectors_ld", .value = (12 << 10) / 8},
    {"07-carve-out", "in-l1", "50", "sectors_ld", .value = 32 * (12 << 10) / 8},
    {"07-carve-out", "in-l1", "50", "blocks_fit", .value = 8},

    /* 1024 lanes have a word of shared memory each, or none. */
    {"09-neighbour", "safe", "float", "shared_bytes", .value = 1024 * 4},
    {"09-neighbour", "safe", "double", "shared_bytes", .value = 1024 * 8},
    {"09-neighbour", "shuffle", "double", "shared_bytes", .value = 0},
    {"09-neighbour", "safe", "double", "wavefronts_ld", 2, "safe", "float"},
    {"09-reduce", "shared", "scan", "shared_bytes", .value = 1024 * 4},
    {"09-reduce", "predicate", "scan", "shared_bytes", .value = 0},

    /* The lanes' pieces are not adjacent. Copying the same number of bytes in all lanes therefore
     * costs more sectors, but fewer requests. */
    {"09-votes", "copy as each can", "all at 16", "requests_st", .value = 64 / 16},
    {"09-votes", "copy as all can", "all at 16", "requests_st", .value = 64 / 16},
    {"09-votes", "copy as each can", "one at 8 and one at 1", "requests_st",
     .value = 64 / 16 + 64 / 8 + 64},
    {"09-votes", "copy as all can", "one at 8 and one at 1", "requests_st", .value = 64},
    {"09-votes", "copy as each can", "one at 8 and one at 1", "sectors_st", .value = 192},
    {"09-votes", "copy as all can", "one at 8 and one at 1", "sectors_st", .value = 2048},

    /* All 64 bits arrive with two shuffles, by hand and by CUDA. */
    {"09-wide", "halves", "double", "wrong", .value = 0},
    {"09-wide", "cuda", "int64", "wrong", .value = 0},

    /* The number of atomics on the counter: one per warp, or one per block. */
    {"10-atomics", "plain", "pack", "requests_atom", .value = 4096 / 32},
    {"10-atomics", "aggregated", "pack", "requests_atom", .value = 4096 / 32},
    {"10-atomics", "shared", "pack", "requests_atom", .value = 4096 / 256},
    {"10-atomics", "atomic", "a word a thread", "requests_atom", .value = 4096 / 32},
    {"10-atomics", "load", "a word a thread", "sectors_ld", .value = 4096 / 8},
    {"10-atomics", "load", "a word a block", "sectors_ld", .value = 4096 / 32},

    /* The generic sum uses shared memory, the sums of tiles do not. In groups whose size is not a
     * power of two the generic sum loses elements, here in every warp. */
    {"10-groups", "generic", "32", "wavefronts_st", .value = 4096 / 32 * 5},
    {"10-groups", "static", "32", "wavefronts_st", .value = ABSENT},
    {"10-groups", "library", "32", "wavefronts_st", .value = ABSENT},
    {"10-groups", "lost", "32", "wrong", .value = 1},

    /* Each block adds one to the counter of grid.sync(), once per round. A grid that is too large
     * is refused: cudaErrorCooperativeLaunchTooLarge. */
    {"10-grid-sync", "grid.sync", "8", "requests_atom", .value = 8 * 100},
    {"10-grid-sync", "launches", "8", "requests_st", .value = 8 * 100},
    {"10-grid-sync", "too large", "1057", "error", .value = 720},

    /* A pixel of RGB: in the document's way three loads request each sector, with shuffles one load
     * does. The fast variant reads 64 rows of two sectors twice, and writes eight for each row. A
     * row of tiles has 8 sectors of column sums, one of row sums, and one of the tile's. They are
     * stored, scanned in place, and loaded again; a single tile has none to its left. */
    {"14-against-npp", "de-interleave", "RGB 64x64", "sectors_ld", .value = 3 * 384},
    {"14-against-npp", "de-interleave by shuffles", "RGB 64x64", "sectors_ld", .value = 384},
    {"14-against-npp", "transpose", "RGB 64x64", "sectors_ld", .value = 3 * 64 * 64 * 4 / 32},
    {"14-against-npp", "transpose", "RGB 64x64", "sectors_st", .value = 3 * 64 * 64 * 4 / 32},
    {"14-against-npp", "fast", "grey 64x64", "sectors_ld", .value = 64 * 64 / 32},
    {"14-against-npp", "fast", "grey 64x64", "sectors_st", .value = 64 * 64 * 4 / 32},
};

static void expect_known(const char *program)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *variant = known[i].variant, *parameter = known[i].parameter;
        char row[200];
        if (strcmp(known[i].program, program) != 0) continue;
        snprintf(row, sizeof row, ",%s,%s,%s,", variant, parameter, known[i].metric);
        if (known[i].value == ABSENT) {
            expect_not(row);
            continue;
        }
        double wanted = known[i].value, got = value(variant, parameter, known[i].metric);
        if (known[i].of_variant)
            wanted *= value(known[i].of_variant, known[i].of_parameter, known[i].metric);
        cr_expect(got == wanted, "%s: %s is %g, not %g", program, row, got, wanted);
    }
}

/* Experiments of step 17 need it. */
static bool has_mpi(void)
{
    return getenv("MPI_REQUIRED") || run("test -n \"$(common/build/mpi.sh)\"") == 0;
}

/* Runs the program of an experiment. Its rows have seven fields; the first two name the experiment
 * and the step. */
static void expect_rows(const char *source)
{
    char name[100], program[120], about[120], text[1 << 16];
    int step;
    cr_assert(sscanf(source, "steps/%d-%*[^/]/experiments/%99[^.]", &step, name) == 2);
    snprintf(program, sizeof program, "%02d-%s", step, name);
    run_experiment(program);
    snprintf(text, sizeof text, "%s", output);
    snprintf(about, sizeof about, "%s,%d,", name, step);
    char *line = strtok(text, "\n");
    while (strncmp(line, "emu: ", 5) == 0) line = strtok(NULL, "\n"); /* and why */
    cr_expect_str_eq(line, "experiment,step,variant,parameter,metric,value,unit");
    while ((line = strtok(NULL, "\n")) != NULL) {
        int commas = 0;
        for (char *c = line; *c; c++) commas += *c == ',';
        cr_expect(strncmp(line, about, strlen(about)) == 0 && commas == 6, "%s: %s", program, line);
    }
    expect_known(program);
}

/* Each experiment whose source fits the pattern. */
static void expect_rows_of(const char *pattern)
{
    glob_t sources;
    cr_assert(glob(pattern, 0, NULL, &sources) == 0);
    for (size_t i = 0; i < sources.gl_pathc; i++) expect_rows(sources.gl_pathv[i]);
    globfree(&sources);
}

Test(experiments, all_are_right_slow)
{
    expect_rows_of("steps/0*/experiments/*.cu");
    expect_rows_of("steps/1[0-6]-*/experiments/*.cu");
}

Test(experiments, between_ranks_slow)
{
    if (!has_mpi()) cr_skip_test("Open MPI is missing: make setup-mpi installs it");
    expect_rows_of("steps/17-*/experiments/*.cu");
}

/* What a reader sees without --csv: the rows, and one line about them. */
Test(experiments, each_says_what_to_see_slow)
{
    expect_status(0, "DEVICE=emu " FOLDER "06-clocks 2>&1");
    expect("\n\nWhat to see: the clock is at its highest when");
    expect("\nThe emulator measures no times; chapter 06 in notes/ has those of an H200.\n");
    expect_status(0, "grep -L 'e->lesson = ' steps/*/experiments/*.cu; true");
    cr_expect_str_eq(output, "");
    run_experiment("06-clocks");
    expect_not("What to see");
}

/* No finding in the right ones; in step 12's pipeline also if one lane arrives for its warp. */
Test(experiments, checkers_find_nothing_slow)
{
    static const char *const clean[][2] = {{"racecheck", "05-small-scans"},
                                           {"all", "05-transfers"},
                                           {"racecheck", "06-precision"},
                                           {"racecheck,synccheck", "09-reduce"},
                                           {"racecheck", "12-arrivals"}};
    for (size_t i = 0; i < sizeof clean / sizeof *clean; i++)
        expect_status(0, "$emu --tool %s --error-exitcode 9 " FOLDER "%s 2>&1", clean[i][0],
                      clean[i][1]);
    expect("one lane");
}

/* In a random order other lanes, warps and blocks win. */
Test(experiments, one_wins_slow)
{
    expect_status(0, "$emu --schedule 7 --log-file $t/log " FOLDER "00-one-wins --csv 2>&1");
    cr_expect(value("lanes", "32", "different_winners") > 1);
    cr_expect(value("warps", "32", "different_winners") > 10);
    cr_expect(value("blocks", "32", "different_winners") > 1);
}

/* The tree moves eight words for each element. Scanning all but one level of it naively moves
 * more. */
Test(experiments, switch_to_the_naive_scan_slow)
{
    run_experiment("08-switch");
    const double words = 4096 / 8.0; /* sectors of a word for each element */
    double tree =
        value("n=2^12", "most=2^0", "sectors_ld") + value("n=2^12", "most=2^0", "sectors_st");
    double naive =
        value("n=2^12", "most=2^11", "sectors_ld") + value("n=2^12", "most=2^11", "sectors_st");
    cr_expect(tree > 8 * words && tree < 8.1 * words, "%g words", tree / words);
    cr_expect(naive > 2 * tree, "%g words", naive / words);
}

/* Neither de-interleaving nor the transposition nor the scans have bank conflicts. */
Test(experiments, summed_area_tables_have_no_conflicts_slow)
{
    run_experiment("14-against-npp");
    expect_not("conflicts");
}

/* ---- step 9 ---------------------------------------------------------------------------------- */

/* Values in the usual order, in which the lanes are in lockstep, and in any other. */
#define ONLY_IN_OTHERS (-2) /* above 0 in any other order, and 0 in the usual one */
static const struct {
    const char *program, *variant, *parameter, *metric;
    double value;
} in_any_order[] = {
    /* Lockstep hides the races of the lecture's two ways through shared memory. The ways with a
     * barrier on either side of the read, and the shuffle, are right in any order: otherwise the
     * experiment itself fails. */
    {"09-neighbour", "unsafe", "float", "wrong", ONLY_IN_OTHERS},
    {"09-neighbour", "printed", "double", "wrong", ONLY_IN_OTHERS},
    {"09-neighbour", "syncwarp", "float: one warp", "wrong", 0},
    {"09-neighbour", "shuffle", "double", "wrong", 0},

    {"09-votes", "broadcast", "last and first voter", "wrong", 0},
    {"09-votes", "match", "three keys", "wrong", 0},
    {"09-votes", "match", "three keys", "atomics", 3},
    {"09-votes", "match", "one key", "atomics", 1},

    /* In lockstep all masks are full, which CUDA does not guarantee. A sum of the whole warp in
     * both arms of an if is right, and so is a sum of only the lanes of an arm. A sum that names
     * lanes which do not arrive is wrong. */
    {"09-divergence", "example 1", "mask", "not_all", ONLY_IN_OTHERS},
    {"09-divergence", "example 2", "mask", "not_all", ONLY_IN_OTHERS},
    {"09-divergence", "ballot", "mask", "not_all", 0},
    {"09-divergence", "both arms", "sum", "wrong", 0},
    {"09-divergence", "own arm", "sum", "wrong", 0},
    {"09-divergence", "one arm", "sum", "wrong", 1024 / 2},
};

/* reduce compares every lane with the host's sums and scans. */
Test(experiments, step_9_in_any_order_slow)
{
    static const char *const programs[] = {"09-neighbour", "09-reduce", "09-votes",
                                           "09-divergence"};
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++)
        for (int seed = 0; seed <= 3; seed++) {
            if (seed == 0)
                run_experiment(programs[p]);
            else
                expect_status(0, "$emu --schedule %d --log-file /dev/null " FOLDER "%s --csv 2>&1",
                              seed, programs[p]);
            for (size_t i = 0; i < sizeof in_any_order / sizeof *in_any_order; i++) {
                if (strcmp(in_any_order[i].program, programs[p]) != 0) continue;
                double wanted = in_any_order[i].value;
                double got = value(in_any_order[i].variant, in_any_order[i].parameter,
                                   in_any_order[i].metric);
                cr_expect(wanted == ONLY_IN_OTHERS ? (got > 0) == (seed > 0) : got == wanted,
                          "%s, seed %d: %s %s is %g", programs[p], seed, in_any_order[i].variant,
                          in_any_order[i].metric, got);
            }
        }
}

/* racecheck finds the naive scan in one array, and only it; and of the exchanges between neighbours
 * (templates over enum way) those of 0, unsafe, and 1, printed. synccheck reports only the sum that
 * names lanes which do not arrive. */
Test(experiments, checkers_find_the_wrong_ones_slow)
{
    RUNS({0, "$emu --tool racecheck " FOLDER "02-in-place 2>&1",
          {"WAR hazard at __shared__",
           "RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)", "scan<(way)2>",
           "!scan<(way)0>", "!scan<(way)1>"}},
         {0, "$emu --tool racecheck " FOLDER "09-neighbour --csv 2>&1",
          {"exchange<0, float>", "exchange<1, float>", "exchange<0, double>",
           "exchange<1, double>", "!exchange<2", "!exchange<3", "!exchange<4"}},
         {0, "$emu --tool synccheck " FOLDER "09-divergence --csv 2>&1",
          {"Member mask with threads that have exited\n=========     at one_arm(int*)",
           "!at both_arms", "!at own_arm"}});
}
