/*
 * test_stream_races.c — racecheck between operations of streams and graphs: programs in which they
 * are in order, or not (tests/fixtures/programs/ordered.cu), and what is said of the pairs
 * race-streams-* and race-graph-* of tests/checks, which test_checks.c and test_races.c run.
 */
#include "tests/support/command.h"
#include "tests/fixtures/programs/programs.h"

#include <criterion/parameterized.h>
#include <string.h>

TestSuite(stream_races, .init = command_init, .fini = command_fini, .timeout = 120);

enum { FOUND_IN_STREAMS = 9 };

struct program {
    char name[40];
};

ParameterizedTestParameters(stream_races, only_what_nothing_orders_is_found)
{
    static struct program programs[] = {
        {"flags"},   {"flag-wrong"},    {"threads"}, {"threads-wrong"}, {"told-host"},
        {"graph"},   {"pieces"},        {"memory"},  {"pieces-wrong"},  {"legacy"},
        {"devices"}, {"devices-wrong"}, {"peers"},   {"peers-wrong"}};
    return cr_make_param_array(struct program, programs, sizeof programs / sizeof *programs);
}

ParameterizedTest(struct program *program, stream_races, only_what_nothing_orders_is_found)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("the ordinary build runs it, with the same programs");
#endif
    static const char *const options[] = {"--tool racecheck", "--tool all --schedule 5"};
    bool is_wrong = strstr(program->name, "-wrong") != NULL;
    for (int i = 0; i < 2; i++) {
        int status = run("timeout 60 $emu --devices 2 %s --error-exitcode %d %s/ordered %s 2>&1",
                         options[i], FOUND_IN_STREAMS, PROGRAMS, program->name);
        cr_expect_eq(status, is_wrong ? FOUND_IN_STREAMS : 0, "%s %s: exit status %d\n%s",
                     program->name, options[i], status, output);
        cr_expect_eq(strstr(output, "Race reported") != NULL, is_wrong, "%s", output);
    }
}

/* It does not go without a word. */
Test(stream_races, too_many_operations_are_told)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("the ordinary build runs it, with the same programs");
#endif
    static const char said[] = "RACECHECK has stopped comparing operations of streams and graphs";
    expect_status(0, "timeout 60 $emu --tool racecheck $p/ordered many 2>&1");
    expect(said);
    expect_status(0, "timeout 60 $emu --tool racecheck $p/ordered legacy 2>&1");
    expect_not(said);
}

static void run_wrong(const char *name, const char *options)
{
    expect_status(FOUND_IN_STREAMS,
                  "$emu --tool racecheck --error-exitcode %d %s $pairs/race-streams %s wrong 2>&1",
                  FOUND_IN_STREAMS, options, name);
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
#ifdef __SANITIZE_ADDRESS__
    cr_skip("the ordinary build runs it, with the same programs");
#endif
    run_wrong("race-graph-edge", "--json --log-file $t/json --sarif $t/sarif --html $t/html");
    expect_status(0, "cat $t/json");
    expect("\"kind\": \"unordered-operations\"");
    expect("\"other_kernel\": \"_Z4fillPi\"");
    expect("\"access\": \"Write access\"");
    expect_status(0, "cat $t/sarif");
    expect("racecheck/unordered-operations");
    expect("\"relatedLocations\"");
    expect("fill(int*)");
    expect_status(0, "cat $t/html");
    expect("is an edge of the graph missing");
}
