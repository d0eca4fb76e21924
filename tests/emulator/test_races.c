/*
 * test_races.c — the pairs race-* of tests/checks: racecheck finds the mistake for any order of
 * threads and blocks, and names what is missing. The usual order on one host thread, and the right
 * versions in every order, are in test_checks.c.
 */
#include "tests/support/catalogue.h"
#include "tests/support/command.h"

#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(races, .init = command_init, .fini = command_fini, .timeout = 600);

enum { FOUND = 9, QUICK_SEEDS = 2, ALL_SEEDS = 10 };

static void expect_hazards(const struct checked *pair, const char *options)
{
    int status =
        run("EMU_TIMEOUT=10 $emu --tool racecheck --error-exitcode %d %s $pairs/%s %s wrong"
            " 2>&1",
            FOUND, options, pair->catalogue, pair->name);
    cr_expect_eq(status, FOUND, "%s%s: exit status %d:\n%s", pair->name, options, status, output);
    cr_expect(!strstr(output, " 0 hazards displayed"), "%s%s:\n%s", pair->name, options, output);
}

ParameterizedTestParameters(races, found_in_any_order_slow)
{
    static struct checked pairs[MAX_PAIRS];
    return cr_make_param_array(struct checked, pairs, find_pairs("race-", pairs));
}

/* With TEST_NIGHTLY=1, for ten seeds. */
ParameterizedTest(struct checked *pair, races, found_in_any_order_slow)
{
    char options[40];
    int seeds = getenv("TEST_NIGHTLY") ? ALL_SEEDS : QUICK_SEEDS;
    expect_hazards(pair, " --blocks descending");
    for (int seed = 1; seed <= seeds; seed++) {
        snprintf(options, sizeof options, " --threads 2 --schedule %d", seed);
        expect_hazards(pair, options);
    }
}

/* ---- strict readers -------------------------------------------------------------------------- */

/* A comment `strict readers: hazard` says that a right version is not right for them in some order
 * of threads and blocks. */
ParameterizedTestParameters(races, right_for_strict_readers_slow)
{
    static struct checked pairs[MAX_PAIRS];
    return cr_make_param_array(struct checked, pairs, find_pairs("race-", pairs));
}

ParameterizedTest(struct checked *pair, races, right_for_strict_readers_slow)
{
    char line[500];
    bool wanted = false, found = false;
    FILE *file = open_pair(pair);
    while (fgets(line, sizeof line, file) && *line != '\n')
        wanted |= strstr(line, "strict readers: hazard") != NULL;
    fclose(file);
    int seeds = getenv("TEST_NIGHTLY") ? ALL_SEEDS : QUICK_SEEDS;
    for (int seed = 0; seed <= seeds; seed++) {
        int status = run("EMU_TIMEOUT=10 $emu --tool racecheck --strict-readers --schedule %d"
                         " --error-exitcode %d $pairs/%s %s right 2>&1",
                         seed, FOUND, pair->catalogue, pair->name);
        cr_expect(status == 0 || (wanted && status == FOUND), "%s: exit status %d:\n%s", pair->name,
                  status, output);
        found |= status == FOUND;
    }
    cr_expect_eq(found, wanted, "%s: no order shows a hazard for strict readers", pair->name);
}

/* The repository's own steps, which publish sums to other blocks. n is small, and still several
 * tiles or blocks; or it is the least that the pipelines of steps 13 and 16 take. Those of steps 12
 * and 17 have tests of their own (test_hazards.c, test_many_gpus.c, tests/ranks). */
struct strict_step {
    int step, n, seeds;
};
ParameterizedTestParameters(races, steps_for_strict_readers_slow)
{
    static struct strict_step steps[] = {
        {10, 3000, 20}, {11, 6000, 20}, {12, 30000, 20}, {13, 6000, 20},   {13, 2097153, 1},
        {14, 3000, 20}, {15, 3000, 20}, {16, 6000, 20},  {16, 1048577, 1}, {17, 6000, 20}};
    return cr_make_param_array(struct strict_step, steps, sizeof steps / sizeof *steps);
}

ParameterizedTest(struct strict_step *s, races, steps_for_strict_readers_slow)
{
    char program[20];
    snprintf(program, sizeof program, "./step%d", s->step);
    if (s->step == 17 && access(program, X_OK))
        cr_skip("Open MPI is missing: make setup-mpi installs it");
    for (int seed = 1; seed <= s->seeds; seed++)
        expect_status(0,
                      "$emu --tool racecheck --strict-readers --schedule %d --error-exitcode %d"
                      " %s --reps 0 --n %d 2>&1",
                      seed, FOUND, program, s->n);
}

/* The messages for hazards between strong accesses, and for a block that exits too early. */
Test(races, say_what_is_missing)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("the ordinary build runs it, with the same programs");
#endif
    static const char *const said[][2] = {
        {"race-cas-discard", "RAW hazard at __global__"},
        {"race-volatile-sum", "has read it, and writes it"},
        {"race-volatile-sum", "it takes an atomic"},
        {"race-lock-volatile", "Volatile and relaxed accesses order nothing"},
        {"race-last-volatile", "is a __threadfence() missing"},
        {"race-cluster-exit", "exit"},
        {"race-cluster-exit", "is a cluster.sync() missing before its end?"},
        {"race-mixed-sizes", "different sizes are no flags to each other"},
        {"race-cas-stored", "RAW hazard at __global__"},
        {"race-slot-reuse", "hazard at __global__"}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct checked pair = find_pair(said[i][0]);
        expect_hazards(&pair, "");
        expect(said[i][1]);
    }
}
