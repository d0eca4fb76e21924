/*
 * test_races.c — races in kernels and between streams, in any order.
 */
#include "tests/support/catalogue.h"
#include "tests/support/command.h"
#include "tests/support/cudart_check.h"
#include <criterion/parameterized.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- right programs under many schedules ----------------------------------------------------- */

/* No run hangs, fails, or has a finding. schedules.sh says which programs they are. */

TestSuite(schedules, .init = command_init, .fini = command_fini, .timeout = 7200);

Test(schedules, right_programs_stay_right_slow)
{
    const char *runs = getenv("TEST_NIGHTLY") != NULL ? "all" : "sample";
    expect_status(0, "EMU=$emu BUILT=$(dirname $(dirname $emu)) "
                     "tests/unit/emulator/schedules.sh %s 2>&1", runs);
    expect(" 0 hang, 0 fail, 0 with findings\n");
}

/* ---- random scheduling ----------------------------------------------------------------------- */

#define IN_ORDER "$emu --threads 1 --log-file /dev/null --trace $t/%s --schedule %d $pairs/%s %s %s"

Test(schedules, a_seed_repeats_every_access)
{
    static const char *const versions[][2] = {{"race-scan", "right"},
                                              {"race-scan", "wrong"},
                                              {"race-blocks-sum", "wrong"},
                                              {"race-lock", "right"}},
                             *const traces[] = {"first", "again", "other"};
    only_in_ordinary_build();
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct checked pair = find_pair(versions[i][0]);
        for (int k = 0; k < 3; k++)
            expect_status(0, IN_ORDER, traces[k], k < 2 ? 7 : 8, pair.catalogue, pair.name,
                          versions[i][1]);
        expect_status(0, "cmp $t/first $t/again && ! cmp -s $t/first $t/other");
    }
}

/* Is what a version has stored in the end the same for each of these seeds? */
static bool repeats(const char *name, const char *version, int seeds)
{
    char first[40] = "";
    struct checked pair = find_pair(name);
    for (int seed = 1; seed <= seeds; seed++) {
        expect_status(0, IN_ORDER " 2>&1", "trace", seed, pair.catalogue, name, version);
        expect_status(0, "awk -F'\t' '$7 == \"st\" && $8 == \"global\" {\n"
                         "    n = split($14, address, \" \"); split($15, value, \" \")\n"
                         "    for (i = 1; i <= n; i++) last[address[i]] = value[i]\n"
                         "} END { for (at in last) print at, last[at] }' $t/trace | sort | cksum");
        if (seed == 1) snprintf(first, sizeof first, "%s", output);
        if (strcmp(first, output) != 0) return false;
    }
    return true;
}

/* Pairs whose wrong versions are right in the emulator's usual order by chance, or because lanes
 * run in lockstep. */
static const char *const by_chance[] = {
    "race-scan",     "race-warp",  "race-warp-values", "race-loop-warp",  "race-up-sweep",
    "race-tile-sum", "race-named", "race-named-full",  "race-blocks-sum", "race-blocks-neighbour",
    "race-bytes"};

Test(schedules, some_seed_shows_a_race)
{
    only_in_ordinary_build();
    for (size_t i = 0; i < sizeof by_chance / sizeof *by_chance; i++)
        cr_expect(!repeats(by_chance[i], "wrong", 40), "%s: one result", by_chance[i]);
}

Test(schedules, right_kernels_stay_right_slow)
{
    for (size_t i = 0; i < sizeof by_chance / sizeof *by_chance; i++)
        cr_expect(repeats(by_chance[i], "right", 20), "%s: several results", by_chance[i]);
}

/* ---- racecheck between operations of streams and graphs -------------------------------------- */

/* Programs in which they, or what kernels launch, are in order or not (ordered.cu, dynamic.cu), and
 * what is said of the pairs race-streams-*, race-graph-* and race-early-*. */

TestSuite(stream_races, .init = command_init, .fini = command_fini, .timeout = 120);

enum { FOUND_IN_STREAMS = 9 };

struct program {
    char name[40];
};

ParameterizedTestParameters(stream_races, only_what_nothing_orders_is_found)
{
    static struct program programs[] = {
        {"ordered flags"},         {"ordered flag-wrong"},   {"ordered threads"},
        {"ordered threads-wrong"}, {"ordered told-host"},    {"ordered graph"},
        {"ordered pieces"},        {"ordered pieces-wrong"}, {"ordered memory"},
        {"ordered legacy"},        {"ordered devices"},      {"ordered devices-wrong"},
        {"ordered peers"},         {"ordered peers-wrong"},  {"dynamic tail"},
        {"dynamic tail-wrong"},    {"dynamic event"},        {"dynamic event-wrong"},
        {"dynamic last"},          {"dynamic last-wrong"},   {"dynamic blocks"},
        {"dynamic blocks-wrong"},  {"dynamic fill"},         {"dynamic fill-wrong"},
        {"dynamic next"},          {"dynamic next-wrong"}};
    return cr_make_param_array(struct program, programs, sizeof programs / sizeof *programs);
}

ParameterizedTest(struct program *program, stream_races, only_what_nothing_orders_is_found)
{
    only_in_ordinary_build();
    static const char *const options[] = {"--tool racecheck", "--tool all --schedule 5"};
    bool is_wrong = strstr(program->name, "-wrong") != NULL;
    for (int i = 0; i < 2; i++) {
        int status = run("timeout 60 $emu --devices 2 %s --error-exitcode %d $p/%s 2>&1",
                         options[i], FOUND_IN_STREAMS, program->name);
        cr_expect_eq(status, is_wrong ? FOUND_IN_STREAMS : 0, "%s %s: exit status %d\n%s",
                     program->name, options[i], status, output);
        cr_expect_eq(strstr(output, "Race reported") != NULL, is_wrong, "%s", output);
    }
}

/* It does not go without a word. */
Test(stream_races, too_many_operations_are_told)
{
    only_in_ordinary_build();
#define STOPPED "RACECHECK has stopped comparing operations of streams and graphs"
    RUNS({0, "timeout 60 $emu --tool racecheck $p/ordered many", {STOPPED}},
         {0, "timeout 60 $emu --tool racecheck $p/ordered legacy", {"!" STOPPED}});
}

static void run_wrong(const char *name, const char *options)
{
    bool is_early = strncmp(name, "race-early", strlen("race-early")) == 0;
    expect_status(FOUND_IN_STREAMS,
                  "$emu --tool racecheck --error-exitcode %d %s $pairs/%s %s wrong 2>&1",
                  FOUND_IN_STREAMS, options, is_early ? "race-early" : "race-streams", name);
}

/* The operations, where they were begun, the memory, and what to do; a finding for each pair of
 * places. */
Test(stream_races, say_what_is_missing_slow)
{
    static const char *const said[][2] = {
        {"race-streams-copy", "and Read access of a copy [1024 hazards]"},
        {"race-streams-copy", "(offset 0 of the 4096 bytes at 0x"},
        {"race-streams-copy", "the kernel in stream 13 wrote it, the copy in stream 14 reads it"},
        {"race-streams-copy", "is a cudaStreamWaitEvent() or a synchronisation missing"},
        {"race-streams-copy", "The kernel was launched at"},
        {"race-streams-copy", "The copy was made at"},
        {"race-streams-copy", "/race-streams.cu:"},
        {"race-streams-memset", "the fill in stream 7 wrote it, the kernel in stream 13"},
        {"race-streams-host", "Write access of a host function"},
        {"race-streams-alloc", "Only work behind the allocation in its stream may use the memory"},
        {"race-streams-free", "the kernel in stream 13 wrote it, cudaFree frees it"},
        {"race-streams-free-async", "is a cudaStreamWaitEvent() or a synchronisation missing "
                                    "before it is freed?"},
        {"race-streams-buffers", "1 hazard displayed"},
        {"race-early-late", "is a cudaGridDependencySynchronize() missing before this access?"},
        {"race-early-barrier", "[63 hazards]"}, /* one thread has waited */
        {"race-early-chain", "is a cudaGridDependencySynchronize() missing there?"},
        {"race-graph-edge", "is an edge of the graph missing between them?"},
        {"race-graph-stream",
         "the kernel in a graph in stream 13 wrote it, the copy in stream 14"}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        run_wrong(said[i][0], "");
        expect(said[i][1]);
    }
}

/* The same finding as data, with both kernels. */
Test(stream_races, are_in_the_other_reports)
{
    only_in_ordinary_build();
    run_wrong("race-graph-edge", "--json --log-file $t/json --sarif $t/sarif --html $t/html");
    RUNS({0, "cat $t/json",
          {"\"kind\": \"unordered-operations\"", "\"other_kernel\": \"_Z4fillPi\"",
           "\"access\": \"Write access\""}},
         {0, "cat $t/sarif",
          {"racecheck/unordered-operations", "\"relatedLocations\"", "fill(int*)"}},
         {0, "cat $t/html", {"is an edge of the graph missing"}});
}

/* ---- functions of the host in streams, and the data that the runtime keeps for a stream ------ */

static void call_the_runtime(void *error)
{
    void *memory;
    *(cudaError_t *)error = cudaMalloc(&memory, 4);
}

static void CUDART_CB callback(cudaStream_t stream, cudaError_t status, void *data)
{
    (void)stream;
    *(int *)data = status == cudaSuccess ? 1 : -1;
}

/* "The host function must not make any CUDA API calls", which may give cudaErrorNotPermitted. */
Test(streams, host_functions_may_not_call_the_runtime)
{
    cudaError_t error = cudaSuccess;
    int called = 0;
    cudaStream_t stream = given(cudaStream_t, cudaStreamCreate);
    ok(cudaLaunchHostFunc(stream, call_the_runtime, &error));
    ok(cudaStreamAddCallback(stream, callback, &called, 0));
    ok(cudaStreamSynchronize(stream));
    is(error, cudaErrorNotPermitted);
    cr_assert(called == 1);
    is(cudaLaunchHostFunc(stream, NULL, NULL), cudaErrorInvalidValue);
}

static void *own_number(void *number)
{
    cudaStreamGetId(cudaStreamPerThread, number);
    return NULL;
}

/* Each thread's default stream is one of its own. */
Test(streams, have_different_numbers)
{
    unsigned long long legacy, mine, again, others;
    pthread_t thread;
    ok(cudaStreamGetId(cudaStreamLegacy, &legacy));
    ok(cudaStreamGetId(cudaStreamPerThread, &mine));
    ok(cudaStreamGetId(cudaStreamPerThread, &again));
    pthread_create(&thread, NULL, own_number, &others);
    pthread_join(thread, NULL);
    cr_expect_eq(mine, again);
    cr_expect(legacy != mine && legacy != others && mine != others);
}

Test(streams, attributes_of_streams_are_kept)
{
    cudaStream_t one, two;
    cudaStreamAttrValue value = {0}, got;
    ok(cudaStreamCreate(&one));
    ok(cudaStreamCreate(&two));
    value.accessPolicyWindow.num_bytes = 4096;
    ok(cudaStreamSetAttribute(one, cudaStreamAttributeAccessPolicyWindow, &value));
    ok(cudaStreamCopyAttributes(two, one));
    ok(cudaStreamGetAttribute(two, cudaStreamAttributeAccessPolicyWindow, &got));
    cr_assert(got.accessPolicyWindow.num_bytes == 4096);
    is(cudaStreamSetAttribute(one, cudaLaunchAttributeCooperative, &value), cudaErrorInvalidValue);
}

/* ---- the pairs race-* of tests/cases/checks -------------------------------------------------- */

/* Racecheck finds the mistake for any order of threads and blocks, and names what is missing. The
 * usual order on one host thread, and the right versions in every order, are in test_checks.c. */

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

/* With TEST_NIGHTLY=1, for ten seeds. */
FOR_PAIRS(races, found_in_any_order_slow, "race-")
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
FOR_PAIRS(races, right_for_strict_readers_slow, "race-")
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
 * and 17 have tests of their own (test_hazards.c, test_many_gpus.c, tests/cli/ranks). */
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
    only_in_ordinary_build();
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
