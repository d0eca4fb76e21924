/*
 * test_bench.c — ./bench in miniature: all steps side by side under the emulator, a few rounds. It
 * is the program without CUB, which takes long to compile.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"
#include "tests/support/scan_once.h"
#include "tests/cases/wrong/wrong.h"
#include "common/bench/bench.h"
#include "common/harness/run/runs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BENCH "LD_LIBRARY_PATH=build/emu " SIDE_BY_SIDE " "

/* Every step that takes any n takes part, and is right, at sizes that fill no block or tile
 * evenly. */
Test(bench, all_steps_side_by_side)
{
    cr_assert(run_command(BENCH "--n 1000,4097 --reps 2 --csv 2>&1") == 0, "%s", output);
    expect("\ncudaMemcpyAsync,,,f32,1000,cold,read,1,2,");
    expect("\nbulk copies,,,f32,4097,");
    expect("\nstep 1,1,exclusive,f32,1000,cold,read,1,2,");
    for (int step = 5; step <= 12; step++) {
        char row[40];
        snprintf(row, sizeof row, "\nstep %d,%d,", step, step);
        expect(row);
    }
    cr_expect(strstr(output, "step 4") == NULL, "step 4 takes no more than a block");
    cr_expect(strstr(output, ",false,") == NULL && strstr(output, "not captured") == NULL, "%s",
              output);
}

/* Three runs in a graph, each on its own numbers; all of them are verified. */
Test(bench, short_runs_are_timed_in_graphs)
{
    cr_assert(run_command(BENCH "--n 1023 --reps 2 --steps roof,7,10,11,12 --csv 2>&1") == 0, "%s",
              output);
    static const char *const graphs[] = {"float4 kernel,,", "step 7,7,", "step 10,10,backward",
                                         "step 11,11,tile2048", "step 12,12,f32"};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        char row[80];
        snprintf(row, sizeof row, "\n%s,f32,1023,graph,read,3,2,", graphs[i]);
        expect(row);
    }
}

Test(bench, types)
{
    static const char *const types[] = {"f64", "i32", "i64", "i16", "i8"};
    cr_assert(
        run_command(BENCH
                    "--n 3001 --reps 1 --steps 12,roof --types f64,i32,u64,i16,i8,i64 --csv") == 0,
        "%s", output);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char row[40];
        snprintf(row, sizeof row, "\nstep 12,12,%s,%s,3001,", types[i], types[i]);
        expect(row);
    }
}

Test(bench, table_for_people)
{
    cr_assert(
        run_command(BENCH "--n 2^10 --near --reps 1 --steps 1,5:naive,7 --flush memset 2>&1") == 0,
        "%s", output);
    expect("times are the emulator's own");
    expect("n = 1023, f32; 1 rounds, L2 emptied by memset");
    expect("n = 1025, f32");
    expect("step 5 naive");
}

Test(bench, wrong_use_is_explained)
{
    static const struct {
        const char *options, *says;
    } wrong[] = {
        {"--steps 3", "of steps 3 to 3 none is here that takes any n"},
        {"--steps 5:nave", "there is no variant \"nave\""},
        {"--steps seven", "\"seven\" is none of: all, cub, roof"},
        {"--steps 7 --types f64", "nothing of --steps 7 scans f64"},
        {"--types f16", "\"f16\" is unknown"},
        {"--n 2^20..2^10", "has no size in it"},
        {"--n 0", "at least 1"},
        {"--n 2^44", "do not fit into host memory"},
        {"--reps 0", "from 1 to"},
        {"--flush off", "choose read or memset"},
        {"--speed", "no option"},
        {"--steps 12,13", "--steps 12,13: step 13 applies scan, and is timed by a program of its "
                          "own; ask for it alone: --steps 13."},
        {"--steps 5-14", "ask for it alone: --steps 14."},
        {"--steps 15:document", "ask for it alone: --steps 15."},
        {"--steps 13 --n 1000",
         "--n: step 13 is timed by build/experiments/13-selects, which takes "
         "--device and --csv only; leave it out."},
        {"--near --steps 14", "--near: step 14 is timed by build/experiments/14-against-npp"},
        {"--steps applications --reps 5", "--reps: step 13 is timed by"},
        {"--device cuda", "GPU"},
        {"--n 1024 --reps 1 --steps 5 >/dev/full", "side-by-side: cannot write to stdout.\n"},
        {"--help >/dev/full", "side-by-side: cannot write to stdout.\n"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char command[400];
        /* A sanitizer would end the program that asks for 2^44 numbers. */
        snprintf(command, sizeof command,
                 "ASAN_OPTIONS=$ASAN_OPTIONS:allocator_may_return_null=1:log_path=/dev/null " BENCH
                 "2>&1 %s",
                 wrong[i].options);
        int code = run_command(command);
        cr_expect(code == 2 || code == 3, "%s: exit code %d", wrong[i].options, code);
        expect(wrong[i].says);
    }
}

/* For a step that applies scan, its experiment runs with these options, and its rows name it. */
Test(bench, applications_are_timed_by_their_experiments_slow)
{
    static const char *const same[] = {
        BENCH "--help | sed -n 's|.*bench --steps .* by build/experiments/\\([0-9]*\\)-\\(.*\\)"
              "|experiment,step\\n\\2,\\1|p'",
        "for step in $(awk -F, '$2 == \"application\" { print $1 }' steps/steps.csv); do " BENCH
        "--steps $step --device emu --csv | cut -d, -f1,2 | uniq; done",
        BENCH "--steps applications --device emu --csv | cut -d, -f1,2 | uniq",
    };
    char want[300];
    cr_assert(run_command("awk -F, '$2 == \"application\" { print \"experiment,step\\n\" $9 \",\" "
                          "$1 }' steps/steps.csv") == 0);
    snprintf(want, sizeof want, "%s", output);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        cr_assert(run_command(same[i]) == 0, "%s", output);
        cr_expect_str_eq(output, want);
    }
    cr_assert(run_command(BENCH "--n 10 --reps 1") == 0, "%s", output);
    expect("Not here are steps that apply scan");
}

Test(bench, an_experiment_that_is_not_built)
{
    cr_expect(run_command("bench=" SIDE_BY_SIDE
                          "; cd build && LD_LIBRARY_PATH=emu $bench --steps 13 2>&1") == 2);
    expect(
        "cannot run build/experiments/13-selects: No such file or directory; call ./bench in its "
        "own folder, after make experiments.");
}

/* ---- a wrong scan is found ------------------------------------------------------------------- */

extern const struct step step07;

/* Step 7's scan, after which one element behind its end, or one of its result, is overwritten. */
static size_t spoiled;
static cudaError_t spoil(void *out, const void *in, size_t n, int variant, void *workspace,
                         cudaStream_t stream)
{
    cudaError_t error = step07.scan(out, in, n, variant, workspace, stream);
    if (error != cudaSuccess) return error;
    return cudaMemsetAsync((float *)out + spoiled, 0x3F, sizeof(float), stream);
}

static struct side_by_side bench;

/* Times this step and another contender side by side: two rounds of 1024 floats. These are so few
 * that both are also timed in graphs, of three runs. Returns side_by_side_time's exit code. */
static int time_beside(const struct contender *other, const struct step *step, struct fault *fault)
{
    struct data data;
    const struct contender both[] = {{.step = step}, *other};
    cr_assert(data_open(&data, 4096, fault) == 0, "%s", fault->text);
    cr_assert(data_convert(&data, ELEMENT_F32, fault) == 0, "%s", fault->text);
    data_on_host(&data);
    int code = side_by_side_time(&bench, &data, both, 2, 1024, 0, FLUSH_READ, 2, fault);
    data_close(&data);
    return code;
}

static int time_both(const struct step *step, struct fault *fault)
{
    return time_beside(&(struct contender){.way = &roof_ways[0]}, step, fault);
}

/* Does the same for step 7 with this scan, whose faults are not the copy's. Returns the scan's
 * entry. */
static const struct entry *time_with_copy(scan_fn *scan)
{
    struct step wrong = step07;
    struct fault fault;
    wrong.scan = scan;
    cr_assert(time_both(&wrong, &fault) == 0, "%s", fault.text);
    cr_expect(bench.entries[1].right, "%s", bench.entries[1].wrong);
    return &bench.entries[0];
}

static cudaError_t spoil_input(void *out, const void *in, size_t n, int variant, void *workspace,
                               cudaStream_t stream)
{
    cudaError_t error = step07.scan(out, in, n, variant, workspace, stream);
    if (error != cudaSuccess) return error;
    return cudaMemsetAsync((float *)(uintptr_t)in + spoiled, 0x3F, sizeof(float), stream);
}

/* A wrong scan, an element that it may spoil, what is said of it, and how many cold runs are
 * timed. */
struct found {
    scan_fn *scan;
    size_t spoiled;
    const char *says;
    int cold;
};

static void expect_found(struct found f)
{
    spoiled = f.spoiled;
    const struct entry *entry = time_with_copy(f.scan);
    cr_expect(!entry->right && strstr(entry->wrong, f.says), "%s: %s", f.says, entry->wrong);
    cr_expect(entry->cold.reps == f.cold && entry->graph.reps == 0, "%s is timed", f.says);
}

/* Each timed run is checked. Before them, the first run is verified, and the second one measures
 * how long a run takes. The input's last number is not among those that the contenders get. */
Test(bench, a_wrong_scan_is_found)
{
    static const struct found rows[] = {
        {spoil, 777, "1 wrong, first [777]", 0},
        {spoil, (size_t)-1, "the output was written 1 element before its start", 0},
        {spoil_input, 5, "the input was modified, first at element 5", 0},
        {spoil_input, 4095, "the input was modified, first at element 4095", 0},
        {in_first_call, 0, "the second run is wrong: ", 0},
        {loses_fourth_race, 0, "timed run 2 of 2 is wrong: 1 wrong, first [512]", 0},
        {failure_unreported_in_third_call, 0, "timed run 2 of 2 is wrong: a call in it failed", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect_found(rows[i]);
}

/* The twelfth run is the second of the three in the second timed graph. */
Test(bench, a_graph_that_is_wrong_later_is_found)
{
    expect_found((struct found){
        loses_twelfth_race, 0, "timed graph 2 of 2 is wrong: 1 wrong, first [512]", 2});
}

/* A scan that waits can be timed outside of graphs, but not captured. */
Test(bench, a_scan_that_cannot_be_captured_says_why)
{
    const struct entry *entry = time_with_copy(waits_for_the_stream);
    cr_expect(entry->right && entry->cold.reps == 2 && entry->graph.reps == 0);
    char why[200];
    snprintf(why, sizeof why, "not captured: %s",
             cudaGetErrorString(cudaErrorStreamCaptureUnsupported));
    cr_expect_str_eq(entry->wrong, why);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t workspace_size;
static size_t some_workspace(size_t n, int variant)
{
    (void)n, (void)variant;
    return workspace_size;
}

static int time_with_workspace(size_t bytes, struct fault *fault)
{
    struct step step = step07;
    step.workspace = some_workspace;
    workspace_size = bytes;
    return time_both(&step, fault);
}

/* The first result is 0. Here it is a word of the workspace, which is not poison. */
static cudaError_t scan_by_workspace(void *out, const void *in, size_t n, int variant,
                                     void *workspace, cudaStream_t stream)
{
    cudaError_t error = step07.scan(out, in, n, variant, workspace, stream);
    if (error != cudaSuccess) return error;
    return cudaMemcpyAsync(out, (char *)workspace + workspace_size - sizeof(float), sizeof(float),
                           cudaMemcpyDeviceToDevice, stream);
}

Test(bench, a_workspace_is_cleared_for_those_who_ask)
{
    struct step step = step07;
    struct fault fault;
    step.scan = scan_by_workspace;
    step.workspace = some_workspace;
    workspace_size = 1 << 16;
    for (int cleared = 0; cleared < 2; cleared++) {
        step.clear_workspace = cleared;
        cr_assert(time_both(&step, &fault) == 0, "%s", fault.text);
        cr_expect_eq(bench.entries[0].right, cleared, "%s", bench.entries[0].wrong);
    }
}

Test(bench, all_memory_is_freed)
{
    struct fault fault;
    size_t before, after, total;
    cr_assert(cudaMemGetInfo(&before, &total) == cudaSuccess);
    cr_assert(time_with_workspace(1 << 20, &fault) == 0, "%s", fault.text);
    cr_assert(cudaMemGetInfo(&after, &total) == cudaSuccess);
    cr_expect_eq(after, before, "%zu bytes were free, and then %zu", before, after);
}

Test(bench, a_workspace_that_does_not_fit_is_an_error)
{
    struct fault fault;
    cr_assert(time_with_workspace((size_t)1 << 50, &fault) == EXIT_USAGE);
    cr_expect(strstr(fault.text, "bytes for a workspace do not fit into device memory."), "%s",
              fault.text);
}

/* The number of runs that together move twice the size of the L2 cache, within limits. A run of
 * 1024 floats moves 8 KiB. */
Test(bench, runs_of_a_graph)
{
    static const struct {
        size_t l2_kib, runs;
    } cases[] = {{0, 3},   {4, 8},    {24, 8},   {28, 8},   {32, 9},
                 {64, 17}, {248, 63}, {252, 64}, {256, 64}, {50 << 10, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(side_by_side_graph_runs(1024, ELEMENT_F32, cases[i].l2_kib << 10),
                     cases[i].runs, "an L2 of %zu KiB", cases[i].l2_kib);
    cr_expect_eq(side_by_side_graph_runs(1000, ELEMENT_F32, 64 << 10), 17,
                 "runs begin 256 floats apart");
    cr_expect_eq(side_by_side_graph_runs(1024, ELEMENT_F64, 64 << 10), 9);
}

/* ---- what is shown --------------------------------------------------------------------------- */

static const char *const variants[] = {"plain", "fast", NULL};
static const struct step step = {.number = 7, .variants = variants};
static const struct step library = {.program = "cub"};
static const struct roof_way quick = {.name = "quick copy"}, slow = {.name = "slow copy"};

static struct timing timed(int reps, double microseconds)
{
    double s = microseconds * 1e-6;
    return (struct timing){
        .reps = reps, .median = s, .lower = 0.75 * s, .upper = 1.5 * s, .least = 0.5 * s};
}

/* Two copies, one slower when cold and the other in a graph; CUB; and a step. The step's other
 * variant was wrong, and CUB was not timed in a graph. */
static const struct side_by_side *made_entries(void)
{
    static const struct data data = {.element = ELEMENT_I16};
    static struct side_by_side m;
    m = (struct side_by_side){.data = &data, .n = 1 << 20, .rounds = 15, .runs = 8, .count = 5};
    m.entries[0] = (struct entry){.contender = {.way = &slow}, .cold = timed(15, 4), .right = true};
    m.entries[0].graph = timed(3, 2.5);
    m.entries[1] =
        (struct entry){.contender = {.way = &quick}, .cold = timed(15, 3), .right = true};
    m.entries[1].graph = timed(3, 3);
    m.entries[2] = (struct entry){.contender = {.step = &library},
                                  .cold = timed(15, 8),
                                  .right = true,
                                  .wrong = "not captured"};
    m.entries[3] =
        (struct entry){.contender = {.step = &step}, .cold = timed(15, 6), .right = true};
    m.entries[3].graph = timed(3, 5);
    m.entries[4] = (struct entry){.contender = {.step = &step, .variant = 1}, .wrong = "3 wrong"};
    return &m;
}

/* The output of the three functions, one after the other. */
static const char *shown(const struct device *device, enum report_format format)
{
    static char text[8000];
    struct bench_options options = {.flush = FLUSH_WRITE, .format = format};
    size_t records = 0;
    memset(text, 0, sizeof text);
    FILE *to = fmemopen(text, sizeof text - 1, "w");
    show_head(to, &options, device);
    show_side_by_side(to, &options, device, made_entries(), &records);
    show_end(to, &options);
    fclose(to);
    return text;
}

static const struct device gpu = {.name = "a GPU"};

Test(show, table_of_a_gpu)
{
    cr_expect_str_eq(shown(&gpu, REPORT_TEXT),
                     "The steps side by side on a GPU\n"
                     "\n"
                     "n = 1 048 576, i16; 15 rounds, L2 emptied by memset\n"
                     "                                     median      lower      upper     GB/s  "
                     "of roof   x CUB\n"
                     "  slow copy                         2.50 µs    1.87 µs    3.75 µs     2517  "
                     "100.0 %    3.20  graph\n"
                     "  quick copy                        3.00 µs    2.25 µs    4.50 µs     2097   "
                     "83.3 %    2.67  graph\n"
                     "  CUB                               8.00 µs    6.00 µs    12.0 µs      786   "
                     "31.2 %    1.00  cold  not captured\n"
                     "  step 7 plain                      5.00 µs    3.75 µs    7.50 µs     1258   "
                     "50.0 %    1.60  graph\n"
                     "  step 7 fast                     WRONG: 3 wrong\n"
                     "\n");
}

#define KEYS                                                                                       \
    "contender,step,variant,element,n,mode,flush,launches,reps,seconds,seconds_lower,"             \
    "seconds_upper,seconds_least,bytes_moved,gb_per_s,roof_fraction,times_cub,right,wrong,"        \
    "device,cub\n"
#define COLD(what)  what ",i16,1048576,cold,memset,1,"
#define GRAPH(what) what ",i16,1048576,graph,memset,8,3,"
#define RIGHT       "true,,a GPU,\n"

Test(show, records_of_a_gpu)
{
    cr_expect_str_eq(
        shown(&gpu, REPORT_CSV),
        KEYS COLD("slow copy,,") "15,4e-06,3e-06,6e-06,2e-06,6291456,1572.864,0.75,2," RIGHT
        GRAPH("slow copy,,") "2.5e-06,1.875e-06,3.75e-06,1.25e-06,6291456,2516.5824,1,," RIGHT
        COLD("quick copy,,") "15,3e-06,2.25e-06,4.5e-06,1.5e-06,6291456,2097.152,1,2.66666667,"
        RIGHT
        GRAPH("quick copy,,") "3e-06,2.25e-06,4.5e-06,1.5e-06,6291456,2097.152,0.833333333,," RIGHT
        COLD("CUB,,") "15,8e-06,6e-06,1.2e-05,4e-06,6291456,786.432,0.375,1,true,not captured,"
        "a GPU,\n"
        COLD("step 7,7,plain") "15,6e-06,4.5e-06,9e-06,3e-06,6291456,1048.576,0.5,1.33333333," RIGHT
        GRAPH("step 7,7,plain") "5e-06,3.75e-06,7.5e-06,2.5e-06,6291456,1258.2912,0.5,," RIGHT
        COLD("step 7,7,fast") "0,,,,,6291456,,,,false,3 wrong,a GPU,\n");
}
